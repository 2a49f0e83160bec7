import adapter from '@sveltejs/adapter-static';

// The server is told its address when it starts, the app is built before. So the build carries this stand-in wherever the
// start page names the base path, and the server (src/web) puts the real one in its place.
const BASE = '/welkin-base-path';

/** @type {import('@sveltejs/kit').Config} */
export default {
  compilerOptions: { runes: true },
  kit: {
    adapter: adapter({ fallback: 'index.html', strict: false }),
    paths: { base: process.env.NODE_ENV === 'development' || process.env.VITEST ? '' : BASE },
    serviceWorker: { register: false },
    output: { bundleStrategy: 'split' },
    version: { name: 'welkin', pollInterval: 0 },
    alias: {},
  },
};
