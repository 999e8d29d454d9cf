import { type Command, type CommandInput, exitCodes, WrongUsage } from '../command.ts';

interface CursorMove {
  readonly applied: boolean;
  readonly open_streams: number;
  readonly skipped: number;
  readonly repeated: number;
  readonly items: readonly {
    readonly event_type: string;
    readonly partition: string;
    readonly before: string;
    readonly after: string;
    readonly skipped: number;
    readonly repeated: number;
  }[];
}

/** The service waits for as long as a minute for the last commits of streams. Milliseconds. */
const moveMilliseconds = 90_000;

export const cursorsMoveCommand: Command = {
  name: 'cursors move',
  parameters: '<subscription>',
  wordsMinimum: 1,
  wordsMaximum: 1,
  summary: 'move a subscription: shows what would happen, and does it with --yes',
  options: {
    to: { value: 'begin|end|TIME', summary: 'the place to move to', choices: ['begin', 'end'] },
    shift: { value: 'N', summary: 'move by so many events: -10 repeats ten, 10 skips ten' },
    offset: { value: 'OFFSET', summary: 'move after this event; needs --event-type and --partition' },
    like: { value: 'SUBSCRIPTION', summary: 'move to where another subscription is' },
    'event-type': { value: 'NAME', summary: 'only the partitions of this event type' },
    partition: { value: 'PARTITION', summary: 'only this partition' },
    yes: { summary: 'move, and do not only show what would happen' },
  },
  async run(input) {
    const { words, lendstream, output, isJson } = input;
    const path = `/subscriptions/${encodeURIComponent(words[0] ?? '')}/cursor-moves`;
    const [eventType, partition] = [input.text('event-type'), input.text('partition')];
    const only = {
      ...(eventType === undefined ? {} : { event_type: eventType }),
      ...(partition === undefined ? {} : { partition }),
    };
    const body = { to: placeOf(input), ...(Object.keys(only).length === 0 ? {} : { only }) };
    let move = (await lendstream.request('POST', path, { body: { ...body, dry_run: true } })) as CursorMove;
    if (input.has('yes')) {
      const streams = move.open_streams;
      if (streams > 0) output.message(`waiting for the end of ${streams} open streams and their last commits`);
      // What was worked out is what happens, or nothing: a partition that has moved in the meantime is a conflict. Open
      // streams commit until they have ended, so with them the move is worked out once more.
      const applied = streams > 0 ? body : { items: move.items.map(asSent) };
      move = (await lendstream.request('POST', path, { body: applied, milliseconds: moveMilliseconds })) as CursorMove;
    }
    if (isJson) await output.json(move);
    else {
      await output.table(move.items, {
        'event type': (each) => each.event_type,
        partition: (each) => each.partition,
        before: (each) => each.before,
        after: (each) => each.after,
        skipped: (each) => each.skipped,
        repeated: (each) => each.repeated,
      });
    }
    const counts = `${move.skipped} events are skipped, ${move.repeated} are repeated`;
    output.message(move.applied ? `moved: ${counts}` : `nothing was moved; with --yes ${counts}`);
    return exitCodes.done;
  },
};

/** An item as the service takes it back. */
function asSent({ event_type, partition, before, after }: CursorMove['items'][number]): object {
  return { event_type, partition, before, after };
}

function placeOf(input: CommandInput): object {
  const given = ['to', 'shift', 'offset', 'like'].filter((name) => input.has(name));
  if (given.length !== 1) throw new WrongUsage('exactly one of --to, --shift, --offset and --like is needed');
  const [to, offset, like] = [input.text('to'), input.text('offset'), input.text('like')];
  if (to !== undefined) return to === 'begin' || to === 'end' ? { position: to } : { time: to };
  if (offset !== undefined) return { offset };
  if (like !== undefined) return { subscription_id: like };
  return { shift: input.wholeNumber('shift', Number.MIN_SAFE_INTEGER) };
}
