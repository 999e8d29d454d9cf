import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Ports are chosen below the range that systems use for outgoing connections (from 32768 on Linux, from 49152
 * elsewhere). So while a broker is down, no client's own connection can occupy its port.
 */
const lowestPort = 15_000;
const highestPort = 31_999;
const attemptsMaximum = 100;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/**
 * Different ports of the loopback address on which nothing listens at this moment. Another program may take one before
 * it is used, so callers must be ready to ask again.
 */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let attempt = 0; found.size < count; attempt += 1) {
    if (attempt >= attemptsMaximum + count)
      throw new Error(`No ${count} free ports between ${lowestPort} and ${highestPort}`);
    const port = randomInt(lowestPort, highestPort + 1);
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  return [...found];
}
