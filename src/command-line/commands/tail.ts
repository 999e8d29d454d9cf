import { type AnyEvent, stringifyExact, type TailBatch, type TailStart } from '../../client/client.ts';
import { type Command, type CommandInput, exitCodes, WrongUsage } from '../command.ts';
import { messageOf } from '../notices.ts';
import { printable } from '../output.ts';

export const tailCommand: Command = {
  name: 'tail',
  parameters: '<event-type>',
  wordsMinimum: 1,
  wordsMaximum: 1,
  summary: 'show events as they are published, and commit nothing',
  options: {
    from: { value: 'begin|end|TIME', summary: 'where to begin; default end', choices: ['begin', 'end'] },
    last: { value: 'N', summary: 'begin with the latest N events of each partition' },
    limit: { value: 'N', summary: 'end after N events' },
    filter: { value: 'POINTER=VALUE', summary: 'only events with this value, such as /to=DE', isList: true },
    'no-follow': { summary: 'end when there are no more events' },
  },
  async run(input) {
    const { words, lendstream, output, stopped } = input;
    const eventType = words[0] ?? '';
    const isEnding = input.has('no-follow');
    let hasToldOfWaiting = isEnding;
    const tail = lendstream.tail(eventType, {
      from: startOf(input),
      filter: input.texts('filter'),
      eventsMaximum: input.wholeNumber('limit', 1) ?? 0,
      quietSeconds: isEnding ? 1 : 0,
      signal: stopped,
      onNotice: (notice) => {
        if (notice.kind === 'opened' && !hasToldOfWaiting) {
          output.message(`waiting for events of ${eventType} at ${lendstream.url}; Ctrl-C ends`);
          hasToldOfWaiting = true;
        } else if (notice.kind !== 'opened') {
          const message = messageOf(notice);
          if (message !== undefined) output.message(message);
        }
      },
    });
    for await (const batch of tail) {
      for (const event of batch.events) {
        await output.line(input.isJson ? stringifyExact(event) : lineOf(batch, event));
      }
    }
    return exitCodes.done;
  },
};

function startOf(input: CommandInput): TailStart {
  const last = input.wholeNumber('last', 1);
  const from = input.text('from');
  if (last !== undefined && from !== undefined) throw new WrongUsage('--from and --last exclude each other');
  if (last !== undefined) return { last };
  if (from === undefined || from === 'end') return 'end';
  return from === 'begin' ? 'begin' : { time: from };
}

/** When it was stored, its partition, and its fields without those that all events have. */
function lineOf({ partition }: TailBatch<AnyEvent>, { metadata, ...fields }: AnyEvent): string {
  return `${metadata?.received_at ?? '-'}  ${partition}  ${printable(stringifyExact(fields))}`;
}
