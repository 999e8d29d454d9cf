import type { EventLog, FencedWriter } from '../../src/ports/event-log.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';

/**
 * The steps of the lending worker's loop, as the log and the registry see them.
 *
 * `fetched`      commands have been read, nothing is decided
 * `deciding`     the toggles are being read for a command
 * `appending`    everything is decided, nothing is in the transaction
 * `appended`     everything is in the transaction, the commit is not sent
 * `commit sent`  the commit is sent and has no response
 * `committed`    the commit is durable, the worker does not know it yet
 */
export const workerSteps = ['fetched', 'deciding', 'appending', 'appended', 'commit sent', 'committed'] as const;
export type WorkerStep = (typeof workerSteps)[number];

/** Called at each step; the worker continues when it resolves. `deciding` cannot wait. */
export type OnStep = (step: WorkerStep) => Promise<void> | void;

/** The same log, which reports each step. */
export function withSteps(log: EventLog, onStep: OnStep): EventLog {
  const read: EventLog['read'] = async (from, options) => {
    const result = await log.read(from, options);
    if (from.topic === loanCommandsTopic && result.batches.length > 0) await onStep('fetched');
    return result;
  };
  const openWriter: EventLog['openWriter'] = async (writerId, partitions) =>
    steppingWriter(await log.openWriter(writerId, partitions), onStep);
  return overriding(log, { read, openWriter });
}

function steppingWriter(writer: FencedWriter, onStep: OnStep): FencedWriter {
  const append: FencedWriter['append'] = async (partitions) => {
    await onStep('appending');
    await writer.append(partitions);
    await onStep('appended');
  };
  const commit: FencedWriter['commit'] = async () => {
    const committing = writer.commit();
    // A failure while the step waits is reported below, not as an unhandled one.
    committing.catch(() => {});
    await onStep('commit sent');
    const committed = await committing;
    await onStep('committed');
    return committed;
  };
  return overriding(writer, { append, commit });
}

/** A copy of an object with some methods replaced. */
export function overriding<Target extends object>(target: Target, methods: Partial<Target>): Target {
  return new Proxy(target, {
    get(inner, name) {
      const own: unknown = Reflect.get(methods, name) ?? Reflect.get(inner, name);
      return typeof own === 'function' ? own.bind(inner) : own;
    },
  });
}

/** A registry that reports when the toggles of a command are read. */
export class SteppingRegistry extends Registry {
  onStep: OnStep = () => {};

  override get<Value>(...[kind, name]: Parameters<Registry['get']>): Value | undefined {
    if (kind === 'toggle') void this.onStep('deciding');
    return super.get<Value>(kind, name);
  }
}
