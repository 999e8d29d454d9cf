import { type Command, exitCodes } from '../command.ts';

const letters = '/dead-letters/commands';
const lettersDefault = 20;

interface DeadLetter {
  readonly id: string;
  readonly dealt_with: { readonly at: string; readonly note: string } | null;
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
    open: { summary: 'only those that were not dealt with' },
  },
  async run({ lendstream, output, isJson, text, has, wholeNumber }) {
    const wanted = wholeNumber('limit', 1) ?? lettersDefault;
    const found: DeadLetter[] = [];
    let token: string | undefined;
    do {
      const place = token === undefined ? { direction: 'backward' } : { token };
      const query = {
        ...place,
        limit: Math.min(1_000, wanted - found.length),
        text: text('text'),
        ...(has('open') ? { open: true } : {}),
      };
      const page = (await lendstream.get(letters, { query })) as {
        readonly items: readonly DeadLetter[];
        readonly ended_by: string;
        readonly next?: string;
      };
      found.push(...page.items);
      token = page.next;
      if (page.ended_by === 'search_limit') output.message(`${found.length} found so far; searching on`);
    } while (token !== undefined && found.length < wanted);
    if (token !== undefined) output.message(`there may be more than these ${wanted}: see --limit`);
    for (const letter of isJson ? found : []) await output.json({ ...letter, command: commandIn(letter) });
    if (!isJson) {
      await output.table(found, {
        id: (each) => each.id,
        time: (each) => each.timestamp,
        'command id': (each) => each.event.commandId,
        place: (each) => `${String(each.event.partition)}:${String(each.event.offset)}`,
        reason: (each) => each.event.reason,
        'dealt with': (each) => each.dealt_with?.note,
      });
    }
    return exitCodes.done;
  },
};

export const deadLettersResendCommand: Command = {
  name: 'dead-letters resend',
  parameters: '<letter>',
  wordsMinimum: 1,
  wordsMaximum: 1,
  summary: 'send the command of a dead letter again, under its id; the letter is then dealt with',
  options: {},
  async run({ words, lendstream, output, isJson }) {
    const path = `${letters}/${encodeURIComponent(words[0] ?? '')}/deliveries`;
    const sent = (await lendstream.request('POST', path)) as { readonly partition: string; readonly offset: string };
    if (isJson) await output.json(sent);
    else output.message(`sent again: partition ${sent.partition}, offset ${sent.offset}`);
    return exitCodes.done;
  },
};

export const deadLettersMarkCommand: Command = {
  name: 'dead-letters mark',
  parameters: '<letter>',
  wordsMinimum: 1,
  wordsMaximum: 1,
  summary: 'mark a dead letter as dealt with, or with --open as not',
  options: {
    note: { value: 'TEXT', summary: 'what was done about it' },
    open: { summary: 'it is not dealt with' },
  },
  async run({ words, lendstream, output, text, has }) {
    const id = words[0] ?? '';
    const body = { dealt_with: !has('open'), note: text('note') ?? '' };
    await lendstream.request('PUT', `${letters}/${encodeURIComponent(id)}`, { body });
    output.message(`letter ${id} is ${has('open') ? 'open' : 'dealt with'}`);
    return exitCodes.done;
  },
};

/** The command as text, which may be no JSON: that may be why it lies here. */
function commandIn({ event }: DeadLetter): string {
  return Buffer.from(event.value ?? '', 'base64').toString();
}
