import { type Command, exitCodes } from '../command.ts';

const recordsDefault = 20;

interface AuditItem {
  readonly timestamp: string;
  readonly event: {
    readonly stage: string;
    readonly who: { readonly name: string } | null;
    readonly from: string | null;
    readonly operation: string | null;
    readonly subject: { readonly kind: string; readonly name: string | null } | null;
    readonly status?: unknown;
    readonly count?: unknown;
  };
}

export const auditCommand: Command = {
  name: 'audit list',
  parameters: '',
  wordsMinimum: 0,
  wordsMaximum: 0,
  summary: 'who did what, the latest first',
  options: {
    who: { value: 'NAME', summary: 'only records of this key or principal' },
    operation: { value: 'ID', summary: 'only records of this operation, such as deleteEventType' },
    subject: { value: 'NAME', summary: 'only records about this, such as an event type' },
    before: { value: 'TIME', summary: 'only records before this time, such as 2026-01-31T12:00:00Z' },
    limit: { value: 'N', summary: `at most N; default ${recordsDefault}` },
  },
  async run({ lendstream, output, isJson, text, wholeNumber }) {
    const wanted = wholeNumber('limit', 1) ?? recordsDefault;
    const filters = [
      ['/who/name', text('who')],
      ['/operation', text('operation')],
      ['/subject/name', text('subject')],
    ].flatMap(([pointer, value]) => (value === undefined ? [] : [`${pointer}=${value}`]));
    const records: AuditItem[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ limit: String(Math.min(1_000, wanted - records.length)) });
      for (const filter of filters) query.append('filter', filter);
      if (token !== undefined) query.set('token', token);
      else {
        query.set('direction', 'backward');
        const before = text('before');
        if (before !== undefined) query.set('from', before);
      }
      const page = (await lendstream.get(`/event-types/lendstream.audit/retained-events?${query.toString()}`)) as {
        readonly items: readonly AuditItem[];
        readonly ended_by: string;
        readonly next?: string;
      };
      records.push(...page.items);
      token = page.next;
      if (page.ended_by === 'search_limit') output.message(`${records.length} found so far; searching on`);
    } while (token !== undefined && records.length < wanted);
    for (const record of isJson ? records : []) await output.json(record);
    if (!isJson) {
      await output.table(records, {
        time: (each) => each.timestamp,
        who: (each) => each.event.who?.name,
        from: (each) => each.event.from,
        operation: (each) => each.event.operation,
        subject: (each) => each.event.subject?.name,
        stage: (each) => each.event.stage,
        status: (each) => each.event.status,
        count: (each) => each.event.count,
      });
    }
    return exitCodes.done;
  },
};
