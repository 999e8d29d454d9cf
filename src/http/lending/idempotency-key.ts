import { v4 as uuidV4, v5 as uuidV5 } from 'uuid';
import { LendingErrors, invalidParameter, requestError } from '../edge/lending-errors.ts';

/** The longest Idempotency-Key. Characters. */
const keyCharactersMaximum = 256;

const idempotencyNamespace = '5a2f4f0e-0a54-5c9e-8d39-7c6f1b2f8f10';

/**
 * The id of a request's command. Under an Idempotency-Key it is the same for every request to that path, on any node
 * and after any restart, and the worker does each command id once. Without a key it is new.
 * @throws LendingErrors with INVALID_PARAMETERS for an empty or over-long key
 */
export function commandIdOf(idempotencyKey: string | undefined, path: string): string {
  if (idempotencyKey === undefined) return uuidV4();
  if (idempotencyKey === '' || idempotencyKey.length > keyCharactersMaximum) throw invalidParameter('Idempotency-Key');
  return uuidV5(JSON.stringify([idempotencyKey, path]), idempotencyNamespace);
}

/** 422: the key came with another request before. */
export function keyAlreadyUsed(): LendingErrors {
  return new LendingErrors('UNPROCESSABLE', [requestError('IDEMPOTENCY_KEY_ALREADY_USED', 'Idempotency-Key')]);
}

/** 409: the same request is under way. */
export function requestInProgress(): LendingErrors {
  return new LendingErrors('CONFLICT', [requestError('ANOTHER_TASK_IN_PROGRESS', 'Idempotency-Key')]);
}
