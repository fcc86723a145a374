"""Elaborates a SystemRDL file with its reference compiler and prints what `cargo xtask registers` needs as JSON."""

import json
import sys

from systemrdl import RDLCompileError, RDLCompiler
from systemrdl.node import RegNode


def text(node):
    """A component's description on one line."""
    return " ".join((node.get_property("desc") or "").split())


def optional(node, name):
    """A property that may be absent."""
    return node.get_property(name) if name in node.list_properties(include_native=False) else None


def members(enum):
    return [
        {"name": member.name, "value": member.value, "description": " ".join((member.rdl_desc or "").split())}
        for member in enum
    ]


def field(node):
    encode = node.get_property("encode")
    return {
        "name": node.inst_name,
        "description": text(node),
        "low": node.low,
        "width": node.width,
        "software": node.get_property("sw").name,
        "hardware": node.get_property("hw").name,
        "reset": node.get_property("reset"),
        "pulse": node.get_property("singlepulse"),
        "emitted": bool(optional(node, "emitted")),
        "snapshot": bool(optional(node, "snapshot")),
        "signed": bool(optional(node, "is_signed")),
        "maximum": optional(node, "maximum"),
        "enumeration": encode and {"name": encode.type_name, "members": members(encode)},
    }


def register(node):
    if not isinstance(node, RegNode) or node.is_array:
        sys.exit(f"{node.get_path()}: only plain registers are supported")
    return {
        "name": node.inst_name,
        "title": node.get_property("name"),
        "description": text(node),
        "offset": node.address_offset,
        "width": node.get_property("regwidth"),
        "guarded": bool(optional(node, "guarded")),
        "access_width": node.get_property("accesswidth"),
        "fields": [field(one) for one in node.fields()],
    }


def main():
    compiler = RDLCompiler()
    try:
        compiler.compile_file(sys.argv[1])
        top = compiler.elaborate().top
    except RDLCompileError:
        sys.exit(1)
    block = {
        "name": top.inst_name,
        "title": top.get_property("name"),
        "description": text(top),
        "registers": [register(child) for child in top.children()],
    }
    json.dump(block, sys.stdout, indent=1)


main()
