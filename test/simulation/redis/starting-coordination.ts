import { LendstreamError } from '../../../src/errors.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { RedisCoordination, type RedisCoordinationOptions } from '../../../src/redis/coordination.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { NodeCoordination } from '../simulated-store.ts';
import { simulatedSource } from './simulated-scripts.ts';

/** How soon a node that could not start is started again. Milliseconds. */
const restartMilliseconds = 1_000;

/**
 * The coordination of a node that is starting: until it is open, every call fails.
 * @param failedAt When a call last failed.
 */
export function startingCoordination(
  options: RedisCoordinationOptions,
  process: SimulatedProcess,
  failedAt: () => number,
): NodeCoordination {
  let coordination: RedisCoordination | undefined;
  const waiting = new Map<object, () => void>();

  const open = async (): Promise<void> => {
    for (;;) {
      try {
        coordination = await RedisCoordination.open({ ...options, scriptSource: simulatedSource });
        break;
      } catch {
        await process.clock.sleep(restartMilliseconds);
      }
    }
    for (const watch of waiting.values()) watch();
    waiting.clear();
  };
  void open();

  const watch: Coordination['watch'] = (...watched) => {
    if (coordination !== undefined) return coordination.watch(...watched);
    const key = {};
    let stop = (): void => {
      waiting.delete(key);
    };
    waiting.set(key, () => {
      if (coordination !== undefined) stop = coordination.watch(...watched);
    });
    return () => stop();
  };

  return new Proxy({} as NodeCoordination, {
    get: (_target, name) => {
      if (name === 'failedAt') return failedAt();
      if (name === 'watch') return watch;
      if (coordination === undefined) {
        return () => Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', 'The node is starting.'));
      }
      const member: unknown = Reflect.get(coordination, name);
      return typeof member === 'function' ? member.bind(coordination) : member;
    },
  });
}
