"""Handlers of every kind of work that a pipe gets, for clients_test.py. pipe.mjs is the same in Node."""
import pawl

server = pawl.Server()
snoozed = []


@server.message("pipe.bad")
def bad(message, context):
    raise pawl.Reject("no such account")


@server.message("pipe.late")
def late(message, context):
    if not snoozed:
        snoozed.append(message)
        raise pawl.Snooze(0.01)
    context.log(f"late at attempt {context.attempt}", "warn")


@server.job("pipe.job")
def job(job, context):
    if context.attempt == 2:
        return {"page": job["progress"]["page"], "aborted": context.signal.aborted}
    context.progress({"page": 3})
    raise pawl.Retry("not yet", after=0)


@server.job("pipe.hang")
def hang(job, context):
    context.signal.wait(30)
    raise pawl.Reject(f"pawl: {context.signal.reason}")


@server.perspective("seen@*")
def seen(events, context):
    context.log(f"seen {','.join(event['type'] for event in events)} {context.idempotency_key}")


server.serve(at_once=4)
