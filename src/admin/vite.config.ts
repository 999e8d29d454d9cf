import { defineConfig } from 'vite';

/** Builds the admin page into the folder of the service; one script, one stylesheet, nothing inline. */
export default defineConfig({
  base: '/admin/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/admin',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A directive of a library for servers, which has no meaning here.
    rolldownOptions: {
      onLog: (level, log, report) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : report(level, log)),
      checks: { pluginTimings: false },
    },
  },
});
