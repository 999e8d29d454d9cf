/**
 * How the lags of subscriptions went while this tab showed them. The service keeps no course of a lag; a person who
 * repairs a consumer wants to see it fall.
 */

/** One value for each interval; the latest one that was seen in it. */
export const courseIntervalSeconds = 10;

/** An hour. */
const valuesMaximum = 360;
const subscriptionsMaximum = 1_000;

interface Course {
  /** The interval of the last value, counted from 1970. */
  last: number;
  /** Oldest first; null where nothing was seen. */
  readonly values: (number | null)[];
}

const courses = new Map<string, Course>();

/** Adds a value that was just seen. @param now Milliseconds since 1970. @returns All values, up to this one. */
export function recordLag(subscriptionId: string, events: number, now: number): readonly (number | null)[] {
  const interval = Math.floor(now / courseIntervalSeconds / 1_000);
  const course = courses.get(subscriptionId) ?? { last: interval, values: [events] };
  const steps = interval - course.last;
  // Longer ago than an hour, or before a clock that was set back: nothing of it is shown any more.
  if (steps < 0 || steps > valuesMaximum) course.values.splice(0);
  else if (steps === 0) course.values.pop();
  else course.values.push(...Array.from({ length: steps - 1 }, () => null));
  course.values.push(events);
  course.values.splice(0, course.values.length - valuesMaximum);
  course.last = interval;
  // The one that was seen last is kept longest.
  courses.delete(subscriptionId);
  courses.set(subscriptionId, course);
  const [oldest] = courses.keys();
  if (courses.size > subscriptionsMaximum && oldest !== undefined) courses.delete(oldest);
  return course.values;
}
