import { Kafka, logLevel, type Admin } from 'kafkajs';
import { eventually } from '../eventually.ts';

/** Deletes topics with one request. Those that are gone already do not matter. */
export async function deleteKafkaTopics(brokers: readonly string[], topics: readonly string[]): Promise<void> {
  await withAdmin(brokers, (admin) => deleteTopics(admin, topics));
}

/** Deletes all topics but those that Kafka has for itself, and returns when a broker shows none of them any more. */
export async function deleteAllKafkaTopics(brokers: readonly string[]): Promise<void> {
  await withAdmin(brokers, async (admin) => {
    const left = async (): Promise<string[]> => (await admin.listTopics()).filter((name) => !name.startsWith('__'));
    const topics = await left();
    if (topics.length === 0) return;
    await deleteTopics(admin, topics);
    await eventually(async () => (await left()).length === 0);
  });
}

async function withAdmin(brokers: readonly string[], work: (admin: Admin) => Promise<void>): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function deleteTopics(admin: Admin, topics: readonly string[]): Promise<void> {
  try {
    await admin.deleteTopics({ topics: [...topics] });
  } catch (error) {
    const { cause = error } = error as Error;
    if ((cause as { readonly type?: string }).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
  }
}
