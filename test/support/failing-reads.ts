import type { EventLog } from '../../src/ports/event-log.ts';

/** A real log whose reads fail, for errors that a healthy log does not give: damaged bytes, an outage. */
export function failingReads(log: EventLog, error: Error): EventLog {
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'read') return () => Promise.reject(error);
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}
