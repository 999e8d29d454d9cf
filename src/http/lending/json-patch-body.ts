import { describeError } from '../../errors.ts';
import { type ExactJson, readExactObject } from '../../lending-format/exact-json.ts';
import { type PatchFault, applyJsonPatch, hasFaults, readJsonPatch } from '../../lending-format/json-patch.ts';
import type { ApiError } from '../../lending-format/refusal-format.ts';
import { LendingErrors, malformedBody, requestError } from '../edge/lending-errors.ts';

/** How much of a wrong path is shown. Characters. */
const pathCharactersMaximum = 100;

/**
 * A document after the JSON Patch in the body of a request. The given document never changes.
 * @throws LendingErrors when the body is no patch; or with one error for each operation that cannot be done. It names
 *   the operation's position from 0 and its path: `[1]/settings/days`
 */
export function documentAfterPatch(document: ExactJson, bodyText: string): ExactJson {
  const operations = readOperations(bodyText);
  if (hasFaults(operations)) throw refusedPatch(operations);
  const result = applyJsonPatch(document, operations);
  if ('fault' in result) throw refusedPatch([result.fault]);
  return result.document;
}

/**
 * The payload of a command that patches, from the body of its request.
 * @throws LendingErrors when the body is no patch
 */
export function payloadOfPatch(bodyText: string): ExactJson {
  const operations = readOperations(bodyText);
  if (hasFaults(operations)) throw refusedPatch(operations);
  return readExactObject(`{"operations":${bodyText}}`);
}

function readOperations(bodyText: string): ReturnType<typeof readJsonPatch> {
  try {
    return readJsonPatch(bodyText);
  } catch (error) {
    throw malformedBody(describeError(error));
  }
}

function refusedPatch(faults: readonly PatchFault[]): LendingErrors {
  return new LendingErrors('MALFORMED_REQUEST', faults.map(errorOf));
}

function errorOf({ index, member, path, reason }: PatchFault): ApiError {
  const shownPath = path.slice(0, pathCharactersMaximum);
  const slash = shownPath === '' || shownPath.startsWith('/') ? '' : '/';
  const errorSource = `[${index}]${slash}${shownPath}`;
  const errorMessage = `Operation ${index}${member === '' ? '' : `, ${member.slice(0, pathCharactersMaximum)}`}: ${reason}`;
  return { ...requestError('INVALID_PARAMETERS', errorSource), errorMessage };
}
