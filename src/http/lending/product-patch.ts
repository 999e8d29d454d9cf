import { describeError } from '../../errors.ts';
import { type ExactJson, isExactObject, readExactObject } from '../../lending-format/exact-json.ts';
import { LendingErrors, malformedBody, requestError } from '../edge/lending-errors.ts';

/**
 * The paths of a product that a patch may replace, as the lending API writes them, with or without a slash before them.
 */
const patchedFields = ['state', 'name', 'notes'] as const;

/** The most operations of one patch. */
const operationsMaximum = 50;

/**
 * The payload of UPDATE_PRODUCT from a patch: a list of `{op, path, value}`, where a later one overrides an earlier
 * one. `op` is ADD or REPLACE, in upper or lower case: both set the field. The check of the payload decides whether the
 * values have the right form.
 * @throws LendingErrors that name each path that cannot be patched
 */
export function payloadOfProductPatch(bodyText: string): ExactJson {
  const operations = readOperations(bodyText);
  const payload: ExactJson = {};
  const errors = operations.flatMap((operation, index) => {
    if (!isExactObject(operation)) return [requestError('INVALID_PARAMETERS', `[${index}]`)];
    const { op, path, value, ...others } = operation;
    const [other] = Object.keys(others);
    if (other !== undefined) return [requestError('INVALID_PARAMETERS', `[${index}].${other}`)];
    const isKnown = typeof op === 'string' && ['ADD', 'REPLACE', 'add', 'replace'].includes(op);
    if (!isKnown) return [requestError('INVALID_PARAMETERS', `[${index}].op`)];
    if (typeof path !== 'string') return [requestError('INVALID_PARAMETERS', `[${index}].path`)];
    const field = patchedFields.find((name) => path === name || path === `/${name}`);
    if (field === undefined) {
      const errorMessage = `Only ${patchedFields.join(', ')} of a product can be changed: loans copy everything else.`;
      return [{ ...requestError('INVALID_PARAMETERS', path.slice(0, pathCharactersMaximum)), errorMessage }];
    }
    // All of them are texts. A deep value could not even be written as the payload.
    if (typeof value !== 'string') return [requestError('INVALID_PARAMETERS', field)];
    payload[field] = value;
    return [];
  });
  if (errors.length > 0) throw new LendingErrors('MALFORMED_REQUEST', errors);
  return payload;
}

/** How much of an unknown path is shown. Characters. */
const pathCharactersMaximum = 100;

function readOperations(bodyText: string): readonly unknown[] {
  let body: unknown;
  try {
    body = JSON.parse(bodyText);
    // Reads the list again in the way bodies are read: it refuses repeated keys and keeps numbers as they were written.
    if (Array.isArray(body)) body = readExactObject(`{"operations":${bodyText}}`)['operations'];
  } catch (error) {
    throw malformedBody(describeError(error));
  }
  if (!Array.isArray(body)) throw malformedBody('The JSON is not a list of operations.');
  if (body.length === 0 || body.length > operationsMaximum) {
    throw malformedBody(`A patch has 1 to ${operationsMaximum} operations.`);
  }
  return body;
}
