/** Why a batch cannot be read. The message continues the sentence "The record batch". */
export class UnreadableBatch extends Error {
  override name = 'UnreadableBatch';
}
