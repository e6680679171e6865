// The pages, in the order of the navigation; `one` shows a single record and is not in the navigation.
import { showAlerts } from "./pages/alerts.js";
import { showAudit } from "./pages/audit.js";
import { showDead } from "./pages/dead.js";
import { showDoctor } from "./pages/doctor.js";
import { showEvent } from "./pages/event.js";
import { showEvents } from "./pages/events.js";
import { showInstances } from "./pages/instances.js";
import { showJob } from "./pages/job.js";
import { showJobs } from "./pages/jobs.js";
import { showMessage } from "./pages/message.js";
import { showMessages } from "./pages/messages.js";
import { showOverview } from "./pages/overview.js";
import { showPartitions } from "./pages/partitions.js";
import { showPauses } from "./pages/pauses.js";
import { showPerspectives } from "./pages/perspectives.js";
import { showPipelines } from "./pages/pipelines.js";
import { showRun } from "./pages/run.js";
import { showRuns } from "./pages/runs.js";
import { showSchedules } from "./pages/schedules.js";
import { showStream } from "./pages/stream.js";
import { showStreams } from "./pages/streams.js";
import { showTask } from "./pages/task.js";
import { showTasks } from "./pages/tasks.js";

export const pages = [
  { name: "", title: "Overview", show: showOverview },
  { name: "messages", title: "Messages", show: showMessages },
  { name: "messages", one: true, title: "Message", show: showMessage },
  { name: "streams", title: "Streams", show: showStreams },
  { name: "streams", one: true, title: "Stream", show: showStream },
  { name: "dead", title: "Dead letters", show: showDead },
  { name: "jobs", title: "Jobs", show: showJobs },
  { name: "jobs", one: true, title: "Job", show: showJob },
  { name: "tasks", title: "Tasks", show: showTasks },
  { name: "tasks", one: true, title: "Task", show: showTask },
  { name: "pipelines", title: "Pipelines", show: showPipelines },
  { name: "schedules", title: "Schedules", show: showSchedules },
  { name: "runs", title: "Runs", show: showRuns },
  { name: "runs", one: true, title: "Run", show: showRun },
  { name: "perspectives", title: "Perspectives", show: showPerspectives },
  { name: "events", title: "Events", show: showEvents },
  { name: "events", one: true, title: "Event", show: showEvent },
  { name: "instances", title: "Instances", show: showInstances },
  { name: "partitions", title: "Partitions", show: showPartitions },
  { name: "pauses", title: "Pauses", show: showPauses },
  { name: "alerts", title: "Alerts", show: showAlerts },
  { name: "audit", title: "Audit", show: showAudit },
  { name: "doctor", title: "Doctor", show: showDoctor },
];
