import { type Command, exitCodes } from '../command.ts';

export const cursorsCommand: Command = {
  name: 'cursors',
  parameters: '<subscription>',
  wordsMinimum: 1,
  wordsMaximum: 1,
  summary: 'the committed cursors of a subscription',
  options: {},
  async run({ words, lendstream, output, isJson }) {
    const cursors = await lendstream.cursors(words[0] ?? '');
    if (cursors.length === 0) output.message('the subscription was never streamed: nothing is committed');
    if (isJson) for (const each of cursors) await output.json(each);
    else {
      await output.table(cursors, {
        'event type': (each) => each.event_type,
        partition: (each) => each.partition,
        offset: (each) => each.offset,
      });
    }
    return exitCodes.done;
  },
};
