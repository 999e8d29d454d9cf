/**
 * Loaded before the service: from SIGUSR2 to the next SIGUSR2, each turn of its event loop takes longer than the
 * process may take before it refuses all new work.
 */
const turnMilliseconds = 1_300;

const never = new Int32Array(new SharedArrayBuffer(4));
let isBlocked = false;

function blockTurn(): void {
  if (!isBlocked) return;
  Atomics.wait(never, 0, 0, turnMilliseconds);
  setTimeout(blockTurn, 0);
}

process.on('SIGUSR2', () => {
  isBlocked = !isBlocked;
  blockTurn();
});
