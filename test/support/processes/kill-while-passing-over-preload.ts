import { readFileSync } from 'node:fs';
import { DeadLetterQueue } from '../../../src/broker/dead-letters/dead-letter-queue.ts';
import type { DeadLetter } from '../../../src/broker/streaming/unprocessable-events.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { RedisCoordination } from '../../../src/redis/coordination.ts';

/**
 * Loaded before the service: it ends like kill -9 at a step of passing over an event. The file that KILL_STEP_FILE
 * names has the step, and is empty while the process goes on.
 *
 * `decided`         nothing is written yet
 * `letter sent`     the dead letter is on its way to the log
 * `letter written`  the dead letter is durable, the event is not committed
 * `commit sent`     the commit is on its way to the coordination store
 * `committed`       the commit is durable, the stream does not know it yet
 */
const file = process.env['KILL_STEP_FILE'] ?? '';

function reach(reached: string): void {
  if (reached === readFileSync(file, 'utf8')) process.kill(process.pid, 'SIGKILL');
}

/** What was sent in this turn of the event loop leaves before the process ends. */
function reachLater(reached: string): void {
  setImmediate(() => setImmediate(() => reach(reached)));
}

interface WithWrite {
  write: (this: DeadLetterQueue, letter: DeadLetter) => Promise<void>;
}

const queue: WithWrite = DeadLetterQueue.prototype;
const { write } = queue;
queue.write = async function (letter): Promise<void> {
  reach('decided');
  const written = write.call(this, letter);
  reachLater('letter sent');
  await written;
  reach('letter written');
};

for (const coordination of [EmbeddedCoordination.prototype, RedisCoordination.prototype] as Pick<
  Coordination,
  'commit'
>[]) {
  const { commit } = coordination;
  coordination.commit = async function (subscriptionId, streamId, cursors) {
    const committed = commit.call(this, subscriptionId, streamId, cursors);
    // Clients know no fence.
    const isPassingOver = cursors.some(({ fence }) => fence !== undefined);
    if (isPassingOver) reachLater('commit sent');
    const result = await committed;
    if (isPassingOver) reach('committed');
    return result;
  };
}
