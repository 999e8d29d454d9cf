import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure, Outcome } from './campaign.ts';

/** The summary of a run, in lines for people. */

/** How much of a request or a response is shown. Characters. */
const shownCharacters = 3_000;

export function isClean({ failures }: Outcome): boolean {
  return failures.length === 0;
}

/** @param folder The folder for each request that failed, which can be sent again: `nc 127.0.0.1 8080 < file`. */
export function reportOf(outcome: Outcome, folder: string): string[] {
  const { seed, requests, failures, seconds, comparisons, worstStall, memory, canaryMilliseconds } = outcome;
  const { warm, end, stayingThings } = memory;
  const statuses = [...outcome.statuses].sort(([left], [right]) => left - right);
  const slowest = Math.max(0, ...canaryMilliseconds);
  return [
    `Seed ${seed}: ${requests} requests in ${seconds.toFixed(0)} s`,
    `  answers:      ${statuses.map(([status, count]) => `${count} ${status === 0 ? 'none' : status}`).join(', ')}`,
    `  compared:     the state before and after ${comparisons} refused requests and publications`,
    `  canary:       sang ${canaryMilliseconds.length} times, at most ${slowest.toFixed(0)} ms`,
    `  worst stall:  ${worstStall.milliseconds.toFixed(0)} ms, between requests ${worstStall.from} and ${worstStall.to}`,
    `  heap:         ${mebibytes(warm.heapBytes)} when warm, ${mebibytes(end.heapBytes)} at the end, ${stayingThings} loans and products`,
    `  outside it:   ${mebibytes(warm.externalBytes)} when warm, ${mebibytes(end.externalBytes)} at the end`,
    `  resident:     ${mebibytes(warm.residentBytes)} when warm, ${mebibytes(end.residentBytes)} at the end`,
    ...[...outcome.warnings].map(([message, count]) => `  warned:       ${count} times "${message}"`),
    '  by mutation:',
    ...[...outcome.counts].sort(([left], [right]) => (left < right ? -1 : 1)).map(countLine),
    '  by operation:',
    ...[...outcome.operations].sort(([left], [right]) => (left < right ? -1 : 1)).map(countLine),
    ...failures.flatMap((failure) => failureLines(failure, outcome, folder)),
    failures.length === 0 ? 'Nothing was found.' : `${failures.length} failures; the requests are in ${folder}`,
  ];
}

function countLine([mutation, counts]: [string, ReadonlyMap<string, number>]): string {
  const classes = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return `    ${mutation.padEnd(30)} ${classes.map(([name, count]) => `${count} ${name}`).join(', ')}`;
}

function failureLines({ request, result, faults }: Failure, { seed }: Outcome, folder: string): string[] {
  if (request === undefined) return [`FAILED: ${faults.join('\n  ')}`];
  const file = join(folder, `request-${request.index}.http`);
  writeFileSync(file, request.bytes);
  const { status, body } = result?.response ?? {};
  return [
    `FAILED: request ${request.index} of seed ${seed}: ${request.operation.operationId}, ${request.mutations.join(', ')}`,
    ...faults.map((fault) => `  ${fault.slice(0, shownCharacters)}`),
    `  as it was sent, whole in ${file}:`,
    `    ${JSON.stringify(request.bytes.subarray(0, shownCharacters).toString('latin1'))}`,
    `  answered: ${status ?? 'not'} ${(body ?? '').slice(0, shownCharacters)}`,
  ];
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}
