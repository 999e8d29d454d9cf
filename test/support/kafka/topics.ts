import { Kafka, logLevel } from 'kafkajs';

/** Deletes topics with one request. Those that are gone already do not matter. */
export async function deleteKafkaTopics(brokers: readonly string[], topics: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  await admin.connect();
  try {
    await admin.deleteTopics({ topics: [...topics] });
  } catch (error) {
    const { cause = error } = error as Error;
    if ((cause as { readonly type?: string }).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
  } finally {
    await admin.disconnect();
  }
}
