#!/usr/bin/env python3
"""Compares what is a private address with Python's ipaddress: at the edges of every range it knows, in every clothing of IPv6, and at random.

Usage: addresses.py TOOL [--count N]
Whatever Python takes for not globally reachable must be refused; what is refused beyond that must be in a range named here. Prints TAP.
"""
import ipaddress
import random
import subprocess
import sys

V4, V6 = ipaddress.IPv4Address, ipaddress.IPv6Address

# Refused although Python takes them for reachable, and why.
BEYOND = [("224.0.0.0/4", "multicast"), ("192.88.99.0/24", "relays of 6to4, deprecated"), ("192.0.0.0/24", "assigned to protocols"),
          ("2001::/23", "assigned to protocols"), ("2001:db8::/32", "documentation"), ("::/96", "IPv4-compatible, deprecated")]
BEYOND = [(ipaddress.ip_network(network), why) for network, why in BEYOND]
# What servers of clouds and tricks of the trade use.
KNOWN = """169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 127.0.0.1 127.1.2.3 0.0.0.0 255.255.255.255 10.0.0.1 172.16.0.1
172.31.255.255 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 ::1 :: ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 fe80::1
fd00:ec2::254 fc00::1 ff02::1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 2002:7f00:1:: 2002:a9fe:a9fe:: 2002:c0a8:1:: 2001:db8::1 2001::1
100::1 fec0::1""".split()
PUBLIC = "1.1.1.1 8.8.8.8 93.184.215.14 172.32.0.1 100.63.255.255 100.128.0.1 2606:4700:4700::1111 2a00:1450:4001::200e 64:ff9b::8.8.8.8".split()


def inside(address):
    """The address of IPv4 that one of IPv6 leads to."""
    number = int(address)
    if number >> 32 == 0xFFFF or number >> 32 == 0x64FF9B << 64:
        return V4(number & 0xFFFFFFFF)
    return V4(number >> 80 & 0xFFFFFFFF) if number >> 112 == 0x2002 else None


def reachable(address):
    if address.version == 6 and inside(address) is not None:
        return reachable(inside(address))
    if address.version == 6 and not 0x2000 <= int(address) >> 112 < 0x4000:
        return False
    return address.is_global and not address.is_multicast


def dressed(address):
    number = int(address)
    return [address, V6(0xFFFF << 32 | number), V6(0x64FF9B << 96 | number), V6(0x2002 << 112 | number << 80 | 1)]


def corpus(count):
    # pylint: disable=protected-access
    fixed = [*ipaddress._IPv4Constants._private_networks, ipaddress.ip_network("100.64.0.0/10"), *ipaddress._IPv6Constants._private_networks]
    dice, out = random.Random(7), [ipaddress.ip_address(text) for text in KNOWN + PUBLIC]
    for network in fixed + [network for network, _ in BEYOND]:
        kind, first, last = (V4 if network.version == 4 else V6), int(network[0]), int(network[-1])
        out += [kind(number) for number in (first - 1, first, first + 1, (first + last) // 2, last, last + 1) if 0 <= number < 1 << kind(0).max_prefixlen]
    out += [V4(dice.getrandbits(32)) for _ in range(count)] + [V6(dice.getrandbits(128)) for _ in range(count)]
    out += [V6(0x2001 << 112 | dice.getrandbits(112)) for _ in range(count)]
    return [each for address in out for each in (dressed(address) if address.version == 4 else [address])]


def main():
    count = int(sys.argv[sys.argv.index("--count") + 1]) if "--count" in sys.argv else 5000
    addresses = corpus(count)
    said = subprocess.run([sys.argv[1]], input="\n".join(map(str, addresses)) + "\n", capture_output=True, text=True, check=True).stdout.split()
    wrong = [f"{len(addresses) - len(said)} answers are missing"] if len(said) != len(addresses) else []
    for address, answer in zip(addresses, said):
        wanted = inside(address) if address.version == 6 and inside(address) is not None else address
        beyond = any(wanted.version == network.version and wanted in network for network, _ in BEYOND)
        if answer != ("public" if reachable(address) and not beyond else "private"):
            wrong.append(f"{address} is {answer}")
    known = dict(zip(map(str, addresses), said))
    wrong += [f"{text} is not private" for text in KNOWN if known[str(ipaddress.ip_address(text))] != "private"]
    wrong += [f"{text} is not public" for text in PUBLIC if known[str(ipaddress.ip_address(text))] != "public"]
    print("1..1")
    print(f"{'not ok' if wrong else 'ok'} 1 - {len(addresses)} addresses, and what Python's ipaddress says of them")
    for line in wrong[:20]:
        print("# " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
