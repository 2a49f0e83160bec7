# welkin_pack_web(SOURCE): the web app, which scripts/build has packed into build/web/web.pack, becomes part of SOURCE. Where it was
# not built, or with WELKIN_WEB=OFF, the binary serves no web app.
option(WELKIN_WEB "Put the web app into the binary" ON)
function(welkin_pack_web source)
  set(pack ${PROJECT_SOURCE_DIR}/build/web/web.pack)
  if(NOT WELKIN_WEB OR NOT EXISTS ${PROJECT_SOURCE_DIR}/frontend/package.json)
    return()
  endif()
  if(NOT EXISTS ${pack})
    file(WRITE ${pack} "")
  endif()
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${pack} COMPILE_DEFINITIONS "WELKIN_WEB_PACK=\"${pack}\"")
endfunction()
