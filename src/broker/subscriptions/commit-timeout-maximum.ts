import type { FieldViolation } from '../../errors.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import type { KeyedTexts } from '../definitions/annotations-and-labels.ts';

/** Sets the largest `commit_timeout` of the streams of one subscription. Seconds. */
export const commitTimeoutAnnotation = 'lendstream/commit-timeout-seconds-maximum';

/** The largest value of the annotation. Seconds. */
export const commitTimeoutSecondsLongest = 3_600;

/** What is wrong with the annotation, if anything. */
export function commitTimeoutViolations(annotations: KeyedTexts): FieldViolation[] {
  const text = annotations[commitTimeoutAnnotation] ?? null;
  if (text === null || readSeconds(text) !== undefined) return [];
  const field = `annotations[${commitTimeoutAnnotation}]`;
  return [{ field, message: `must be a whole number from 1 to ${commitTimeoutSecondsLongest}` }];
}

/**
 * The largest `commit_timeout` of a stream of this subscription: what the annotation says, else what the operator
 * allows. Seconds.
 */
export function commitTimeoutSecondsMaximum(
  { annotations }: { readonly annotations: KeyedTexts },
  { commitTimeoutSeconds }: Pick<StreamingLimits, 'commitTimeoutSeconds'> = defaultStreamingLimits,
): number {
  // An annotation that was stored before it had a meaning may be anything.
  return readSeconds(annotations[commitTimeoutAnnotation] ?? '') ?? commitTimeoutSeconds;
}

function readSeconds(text: string): number | undefined {
  const seconds = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined;
  return seconds !== undefined && seconds <= commitTimeoutSecondsLongest ? seconds : undefined;
}
