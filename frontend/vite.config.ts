import { sveltekit } from '@sveltejs/kit/vite';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const server = process.env.WELKIN_DEV_SERVER ?? 'http://127.0.0.1:8086';

/** The policy of the start page allows no inline styles, and the generated root carries one: app.css has it instead. */
const noInlineStyle: Plugin = {
  name: 'welkin-no-inline-style',
  enforce: 'pre',
  transform(code, id) {
    if (!id.split('?')[0]!.endsWith('/generated/root.svelte')) return null;
    const plain = code.replace(/(<div id="svelte-announcer"[^>]*?) style="[^"]*"/, '$1');
    if (plain === code && code.includes('style="')) this.error('the generated root has changed: look at its inline style');
    return { code: plain, map: null };
  },
};

export default defineConfig({
  plugins: [noInlineStyle, sveltekit()],
  build: { target: 'es2022', sourcemap: false, reportCompressedSize: false, assetsInlineLimit: 0 },
  server: { proxy: { '/api': { target: server, changeOrigin: false } } },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'] },
});
