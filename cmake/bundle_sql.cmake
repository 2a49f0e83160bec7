# welkin_bundle_sql(TARGET): compiles migrations/*.sql and migrations/functions/*.sql into TARGET as
# db::bundled_migrations() and db::bundled_functions(), so that the binary needs no files. Run as a script (cmake -P) it
# writes the source; the build runs it again whenever a file changes, comes or goes.
if(CMAKE_SCRIPT_MODE_FILE)
  function(append_files function_name)
    string(APPEND text "const std::vector<Migration>& ${function_name}() {\n  static const std::vector<Migration> all{\n")
    foreach(file IN LISTS ARGN)
      get_filename_component(id "${file}" NAME_WE)
      file(READ "${file}" sql)
      string(APPEND text "      {\"${id}\", R\"welkin_sql(${sql})welkin_sql\"},\n")
    endforeach()
    string(APPEND text "  };\n  return all;\n}\n\n")
    set(text "${text}" PARENT_SCOPE)
  endfunction()

  file(GLOB migrations ${SQL_DIR}/2*.sql)
  file(GLOB functions ${SQL_DIR}/functions/*.sql)
  set(text "// Made by cmake/bundle_sql.cmake from migrations/.\n#include \"welkin/db/migrate.hpp\"\n\nnamespace welkin::db {\n\n")
  append_files(bundled_migrations ${migrations})
  append_files(bundled_functions ${functions})
  file(WRITE ${OUTPUT} "${text}}  // namespace welkin::db\n")
  return()
endif()

set(WELKIN_BUNDLE_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(welkin_bundle_sql target)
  set(folder ${PROJECT_SOURCE_DIR}/migrations)
  set(made ${CMAKE_BINARY_DIR}/generated/bundled_sql.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/2*.sql ${folder}/functions/*.sql)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -DSQL_DIR=${folder} -DOUTPUT=${made} -P ${WELKIN_BUNDLE_SCRIPT}
    DEPENDS ${files} ${WELKIN_BUNDLE_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${made})
endfunction()
