import { MessageChannel } from 'node:worker_threads';

/** A port without another end. A message to it is dropped at once, with the memory that it transfers. */
const nowhere = portWithoutOtherEnd();

function portWithoutOtherEnd(): MessageChannel['port1'] {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}

/**
 * Frees memory at once. The collector frees it after another 32 MiB, and until then each new piece is memory that is in
 * no cache of the processor.
 * @param memory Not needed any more. Afterwards its length is 0.
 */
export function discard(memory: readonly ArrayBuffer[]): void {
  nowhere.postMessage(null, memory);
}
