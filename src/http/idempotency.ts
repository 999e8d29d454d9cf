import { createHash } from 'node:crypto';
import { v4 as uuidV4, v5 as uuidV5 } from 'uuid';
import { LendingErrors, invalidParameter, requestError } from './lending-errors.ts';

/** How many stored answers are kept for replay; the oldest go first. A command never runs twice even without its answer. */
const storedAnswersMaximum = 10_000;
/** How long an answer is kept for replay. Milliseconds. */
const storedAnswerLifeMilliseconds = 6 * 3_600_000;
/** The longest Idempotency-Key. Characters. */
const keyCharactersMaximum = 256;

const idempotencyNamespace = '5a2f4f0e-0a54-5c9e-8d39-7c6f1b2f8f10';

export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * The id of the command that a request asks for. Under an Idempotency-Key it is the same for every request to that path,
 * on any node and after any restart, and the worker does a command id once; without one it is new.
 * @throws LendingErrors with INVALID_PARAMETERS for an empty or over-long key
 */
export function commandIdOf(idempotencyKey: string | undefined, path: string): string {
  if (idempotencyKey === undefined) return uuidV4();
  if (idempotencyKey === '' || idempotencyKey.length > keyCharactersMaximum) throw invalidParameter('Idempotency-Key');
  return uuidV5(JSON.stringify([idempotencyKey, path]), idempotencyNamespace);
}

interface FinishedRequest {
  readonly fingerprint: string;
  readonly answer: StoredAnswer;
  /** Milliseconds since the epoch. */
  readonly finishedAt: number;
}

/**
 * The requests under an Idempotency-Key that this process knows, by command id. A request is in progress from
 * {@link begin} until {@link finish} or {@link forget}, however long its sender waited. What the worker decided is stored,
 * refusals too, for it remembers them as well; a request that never became a command leaves nothing.
 */
export class IdempotentRequests {
  /** The fingerprint of each one's body. */
  readonly #inProgress = new Map<string, string>();
  /** In the order of finishing. */
  readonly #finished = new Map<string, FinishedRequest>();
  readonly #storedMaximum: number;

  constructor(storedMaximum: number = storedAnswersMaximum) {
    this.#storedMaximum = storedMaximum;
  }

  /**
   * Begins a request, or answers what the same request was answered before.
   * @param now Milliseconds since the epoch.
   * @throws LendingErrors: CONFLICT while the same request is in progress; UNPROCESSABLE when the key came with another
   *   body
   */
  begin(commandId: string, body: Buffer, now: number): StoredAnswer | undefined {
    this.#expire(now);
    const fingerprint = createHash('sha256').update(body).digest('base64');
    const finished = this.#finished.get(commandId);
    const before = finished?.fingerprint ?? this.#inProgress.get(commandId);
    if (before !== undefined && before !== fingerprint) {
      throw new LendingErrors('UNPROCESSABLE', [requestError('IDEMPOTENCY_KEY_ALREADY_USED', 'Idempotency-Key')]);
    }
    if (finished !== undefined) return finished.answer;
    if (before !== undefined) {
      throw new LendingErrors('CONFLICT', [requestError('ANOTHER_TASK_IN_PROGRESS', 'Idempotency-Key')]);
    }
    this.#inProgress.set(commandId, fingerprint);
    return undefined;
  }

  /** Ends a request that is in progress and stores its answer. @param now Milliseconds since the epoch. */
  finish(commandId: string, answer: StoredAnswer, now: number): void {
    const fingerprint = this.#inProgress.get(commandId);
    if (fingerprint === undefined) return;
    this.#inProgress.delete(commandId);
    this.#finished.set(commandId, { fingerprint, answer, finishedAt: now });
    this.#expire(now);
  }

  /** Ends a request that leaves nothing to replay. */
  forget(commandId: string): void {
    this.#inProgress.delete(commandId);
  }

  #expire(now: number): void {
    for (const [commandId, { finishedAt }] of this.#finished) {
      if (this.#finished.size <= this.#storedMaximum && now - finishedAt < storedAnswerLifeMilliseconds) break;
      this.#finished.delete(commandId);
    }
  }
}
