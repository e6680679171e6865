"""Makes reports until SIGTERM, over HTTP: needs SERVER_URL, TOKEN and TOKEN_WORKER."""
import os

import pawl

client = pawl.HttpClient(os.environ["SERVER_URL"], token=os.environ["TOKEN"], worker_token=os.environ["TOKEN_WORKER"])
worker = client.worker("reports")


@worker.job("report")
def report(job: pawl.Item, context: pawl.Context) -> dict[str, int]:
    first = (job.progress or {}).get("page", 0) + 1  # an earlier attempt may have come so far
    for page in range(first, job.payload["pages"] + 1):
        if context.signal.aborted:
            raise pawl.Retry("interrupted")
        context.progress({"page": page})
    return {"pages": job.payload["pages"]}


@worker.message("report.wanted")
def wanted(message: pawl.Item, context: pawl.Context) -> None:
    job = client.enqueue("report", message.payload, idempotency_key=message.id)  # once, however often the message is handled
    print(f"report {job} is on its way", flush=True)


worker.run()
