/** Preloaded into the measured service: on SIGUSR2 it collects all garbage, so that memory in use can be measured. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
});
