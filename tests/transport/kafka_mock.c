/* A Kafka cluster for tests: librdkafka's own mock, reachable by other processes until standard input ends.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines on standard input: "topic NAME PARTITIONS", "down", "up". */
static void obey(rd_kafka_mock_cluster_t *cluster, const char *line, int brokers) {
    char topic[128];
    int partitions = 0;
    if (sscanf(line, "topic %127s %d", topic, &partitions) == 2)
        rd_kafka_mock_topic_create(cluster, topic, partitions, 1);
    for (int i = 1; i <= brokers && strncmp(line, "down", 4) == 0; i++)
        rd_kafka_mock_broker_set_down(cluster, i);
    for (int i = 1; i <= brokers && strncmp(line, "up", 2) == 0; i++)
        rd_kafka_mock_broker_set_up(cluster, i);
    printf("done\n");
    fflush(stdout);
}

int main(void) {
    enum { BROKERS = 1 };
    char reason[256], line[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    rd_kafka_mock_cluster_t *cluster = client != NULL ? rd_kafka_mock_cluster_new(client, BROKERS) : NULL;
    if (cluster == NULL)
        return 1;
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL)
        obey(cluster, line, BROKERS);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(client);
    return 0;
}
