import { type Command, exitCodes } from '../command.ts';

const eventType = 'lendstream.loan-commands.dead-letters';
const lettersDefault = 20;

interface DeadLetter {
  readonly timestamp: string;
  readonly partition: string;
  readonly offset: string;
  readonly event: {
    readonly reason?: string;
    readonly commandId?: string;
    readonly partition?: unknown;
    readonly offset?: unknown;
    /** The command as it was sent, in base64. */
    readonly value?: string;
  };
}

export const deadLettersCommand: Command = {
  name: 'dead-letters',
  parameters: '',
  wordsMinimum: 0,
  wordsMaximum: 0,
  summary: 'loan commands that could not be read or decided, the latest first',
  options: {
    limit: { value: 'N', summary: `at most N; default ${lettersDefault}` },
    text: { value: 'TEXT', summary: 'only those that contain this text, such as a command id' },
  },
  async run({ lendstream, output, isJson, text, wholeNumber }) {
    const wanted = wholeNumber('limit', 1) ?? lettersDefault;
    const letters: DeadLetter[] = [];
    let token: string | undefined;
    do {
      const place = token === undefined ? { direction: 'backward' } : { token };
      const query = { ...place, limit: Math.min(1_000, wanted - letters.length), text: text('text') };
      const page = (await lendstream.get(`/event-types/${eventType}/retained-events`, { query })) as {
        readonly items: readonly DeadLetter[];
        readonly ended_by: string;
        readonly next?: string;
      };
      letters.push(...page.items);
      token = page.next;
      if (page.ended_by === 'search_limit') output.message(`${letters.length} found so far; searching on`);
    } while (token !== undefined && letters.length < wanted);
    if (token !== undefined) output.message(`there may be more than these ${wanted}: see --limit`);
    for (const letter of isJson ? letters : []) await output.json({ ...letter, command: commandIn(letter) });
    if (!isJson) {
      await output.table(letters, {
        time: (each) => each.timestamp,
        'command id': (each) => each.event.commandId,
        place: (each) => `${String(each.event.partition)}:${String(each.event.offset)}`,
        reason: (each) => each.event.reason,
      });
    }
    return exitCodes.done;
  },
};

/** The command as text, which may be no JSON: that may be why it lies here. */
function commandIn({ event }: DeadLetter): string {
  return Buffer.from(event.value ?? '', 'base64').toString();
}
