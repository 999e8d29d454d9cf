/**
 * How much of a test runs. `scripts/test` runs a part of what takes long, `npm run campaign -- --only whole` all of it:
 * it sets TEST_EXTENT to `whole`. The part has every kind of case, and all is more of the same kinds.
 */
export function partOrWhole<Value>(part: Value, whole: Value): Value {
  return process.env['TEST_EXTENT'] === 'whole' ? whole : part;
}
