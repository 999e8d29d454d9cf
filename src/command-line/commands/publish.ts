import { createReadStream } from 'node:fs';
import { newEvent, parseExact, PublishError } from '../../client/client.ts';
import { type Command, type CommandInput, exitCodes, WrongUsage } from '../command.ts';
import { secondsOf } from '../notices.ts';

/** How many events are read ahead of those that are stored. */
const eventsUnderWayMaximum = 10_000;

export const publishCommand: Command = {
  name: 'publish',
  parameters: '<event-type> [<file>]',
  wordsMinimum: 1,
  wordsMaximum: 2,
  summary: 'publish events: of a file, of standard input, or of --data',
  options: {
    data: { value: 'EVENT', summary: 'an event as JSON, instead of a file', isList: true },
    'flow-id': { value: 'ID', summary: 'kept with the events' },
    'retry-seconds': { value: 'SECONDS', summary: 'how long events that are not stored are sent again; default 60' },
  },
  async run(input) {
    const { words, lendstream, output } = input;
    const [eventType = '', file] = words;
    if (file !== undefined && input.has('data')) throw new WrongUsage('--data and a file exclude each other');
    const { category } = await lendstream.eventType(eventType);
    const retrySeconds = input.wholeNumber('retry-seconds', 0);
    const producer = lendstream.producer(eventType, {
      flowId: input.text('flow-id'),
      retryMilliseconds: retrySeconds === undefined ? undefined : retrySeconds * 1_000,
      onRetry: (failure, milliseconds) => {
        const reason = failure instanceof Error ? failure.message : 'not all events are stored';
        output.message(`${reason}; sending again in ${secondsOf(milliseconds)}`);
      },
    });
    let stored = 0;
    const failures: { readonly place: number; readonly error: unknown }[] = [];
    const underWay = new Set<Promise<void>>();
    let place = 0;
    for await (const event of eventsOf(input, file)) {
      place += 1;
      const mine = place;
      // Made once: whatever happens, it is sent again under the same id.
      const complete = category === 'undefined' ? event : withMetadata(event);
      const publication = producer.publish(complete).then(
        () => void (stored += 1),
        (error: unknown) => void failures.push({ place: mine, error }),
      );
      const tracked = publication.finally(() => underWay.delete(tracked));
      underWay.add(tracked);
      if (underWay.size >= eventsUnderWayMaximum) await Promise.race(underWay);
      if (input.stopped.aborted) break;
    }
    await producer.close();
    await Promise.all(underWay);
    const [first] = failures;
    if (first !== undefined && !(first.error instanceof PublishError)) throw first.error;
    if (input.isJson) await output.json({ stored, failed: failures.map(failureOf) });
    else await output.line(`${stored} ${stored === 1 ? 'event is' : 'events are'} stored`);
    if (!input.isJson) {
      for (const failure of failures.map(failureOf)) {
        output.message(`event ${failure.event} is ${failure.outcome}: ${failure.detail}`);
      }
    }
    return failures.length === 0 ? exitCodes.done : exitCodes.refused;
  },
};

function failureOf({ place, error }: { readonly place: number; readonly error: unknown }) {
  const event = error instanceof PublishError ? error.events[0] : undefined;
  return {
    event: place,
    eid: event?.eid ?? '',
    outcome: event?.outcome ?? 'not stored',
    detail: event?.detail ?? String(error),
  };
}

function withMetadata(event: Readonly<Record<string, unknown>>): object {
  const { metadata = {}, ...fields } = event;
  return newEvent(fields, metadata as Readonly<Record<string, string>>);
}

/** The events of a JSON list, or of lines with one event each. Lines are read as they are needed. */
async function* eventsOf(
  input: CommandInput,
  file: string | undefined,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  if (input.has('data')) {
    for (const text of input.texts('data')) yield eventIn(text, '--data');
    return;
  }
  if (file === undefined && (input.input as { readonly isTTY?: boolean }).isTTY === true) {
    input.output.message('reading events from standard input, one a line; Ctrl-D ends');
  }
  const pieces = file === undefined || file === '-' ? untilStopped(input) : createReadStream(file);
  let rest = '';
  let isList: boolean | undefined;
  let number = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of pieces) {
    rest += decoder.decode(piece as Uint8Array, { stream: true });
    isList ??= rest.trim() === '' ? undefined : rest.trimStart().startsWith('[');
    if (isList === true) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      number += 1;
      if (line.trim() !== '') yield eventIn(line, `line ${number}`);
    }
  }
  rest += decoder.decode();
  if (rest.trim() === '') return;
  if (isList !== true) {
    yield eventIn(rest, `line ${number + 1}`);
    return;
  }
  const list = jsonIn(rest, 'the list') as readonly unknown[];
  for (const [index, event] of list.entries()) yield objectOf(event, `element ${index + 1}`);
}

/** Standard input, which is closed when the person wants no more: what was read is published all the same. */
async function* untilStopped({ input, stopped }: CommandInput): AsyncGenerator<Uint8Array> {
  try {
    yield* input;
  } catch (error) {
    if (!stopped.aborted) throw error;
  }
}

function eventIn(text: string, place: string): Readonly<Record<string, unknown>> {
  return objectOf(jsonIn(text, place), place);
}

function jsonIn(text: string, place: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw new WrongUsage(`${place} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function objectOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new WrongUsage(`${place} is not an object`);
}
