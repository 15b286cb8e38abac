namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>What goes wrong. The name in scripts and counters is group and kind, as in <c>body.stall</c>.</summary>
public enum FaultKind
{
    /// <summary><c>missing</c>: the article is answered 430 by every command, at every try.</summary>
    Missing,

    /// <summary><c>coverage</c>: counted when a provider does not hold the article (<see cref="MockProvider.Coverage"/>); no script uses it.</summary>
    Coverage,

    /// <summary><c>corrupt</c>: one decoded byte is wrong under the CRC of the true bytes, at every try. Of uuencode, one character that no line has.</summary>
    Corrupt,

    /// <summary><c>connect.refuse</c>: the port is closed while the fault's time lasts.</summary>
    ConnectRefuse,

    /// <summary><c>connect.blackhole</c>: connection requests are dropped while the fault's time lasts.</summary>
    ConnectBlackhole,

    /// <summary><c>connect.slow</c>: the greeting (with TLS the handshake) comes <c>ms</c> later, 3,000 unless told.</summary>
    ConnectSlow,

    /// <summary><c>connect.close</c>: accepted, then closed without a word.</summary>
    ConnectClose,

    /// <summary><c>connect.reset</c>: accepted, then reset.</summary>
    ConnectReset,

    /// <summary><c>greeting.400</c>: service not available, then closed.</summary>
    Greeting400,

    /// <summary><c>greeting.502</c>: too many connections, then closed; not caused by the cap.</summary>
    Greeting502,

    /// <summary><c>greeting.garbage</c>: a line that is no NNTP.</summary>
    GreetingGarbage,

    /// <summary><c>greeting.none</c>: silence.</summary>
    GreetingNone,

    /// <summary><c>greeting.banner</c>: 200 followed by 10 KiB of text in one line.</summary>
    GreetingBanner,

    /// <summary><c>auth.480</c>: AUTHINFO itself is answered 480.</summary>
    Auth480,

    /// <summary><c>auth.481</c>: right credentials are rejected.</summary>
    Auth481,

    /// <summary><c>auth.482</c>: AUTHINFO out of sequence.</summary>
    Auth482,

    /// <summary><c>auth.502</c>: too many connections, said at login, then closed.</summary>
    Auth502,

    /// <summary><c>auth.slow</c>: the login's answer comes <c>ms</c> later, 5,000 unless told.</summary>
    AuthSlow,

    /// <summary><c>auth.then480</c>: accepted, then the first command after it is answered 480 and the login forgotten.</summary>
    AuthThen480,

    /// <summary><c>command.423</c>: no article with that number.</summary>
    Command423,

    /// <summary><c>command.430</c>: no such article, for one command, where <c>missing</c> means the article.</summary>
    Command430,

    /// <summary><c>command.451</c>: taken down.</summary>
    Command451,

    /// <summary><c>command.500</c>: unknown command.</summary>
    Command500,

    /// <summary><c>command.503</c>: feature not supported.</summary>
    Command503,

    /// <summary><c>command.bare</c>: the status line is a code without text.</summary>
    CommandBare,

    /// <summary><c>command.lf</c>: the status line ends with LF alone.</summary>
    CommandLineFeed,

    /// <summary><c>command.long</c>: a status line of 10 MiB.</summary>
    CommandLong,

    /// <summary><c>command.otherid</c>: another article is sent, under its own id.</summary>
    CommandOtherId,

    /// <summary><c>command.swapped</c>: two answers in the wrong order; happens only when the next command waits already.</summary>
    CommandSwapped,

    /// <summary><c>command.twice</c>: the whole answer is sent twice.</summary>
    CommandTwice,

    /// <summary><c>command.slow</c>: the answer comes <c>ms</c> later, 3,000 unless told (0: never).</summary>
    CommandSlow,

    /// <summary><c>command.400</c>: the service is given up in place of the answer, then closed.</summary>
    Command400,

    /// <summary><c>command.480</c>: a login is asked for, though there was one.</summary>
    Command480,

    /// <summary><c>command.502</c>: permission denied, then closed.</summary>
    Command502,

    /// <summary><c>command.garbage</c>: a line that is no NNTP in place of the answer.</summary>
    CommandGarbage,

    /// <summary><c>command.half</c>: half of the status line, then silence.</summary>
    CommandHalf,

    /// <summary><c>command.drip</c>: one byte per <c>ms</c> from the status line on, 200 unless told.</summary>
    CommandDrip,

    /// <summary><c>body.empty</c>: nothing between the status line and the end.</summary>
    BodyEmpty,

    /// <summary><c>body.takedown</c>: a notice in plain text in place of the data.</summary>
    BodyTakedown,

    /// <summary><c>body.packets</c>: from the offset on, packets of one byte each, 16 of them.</summary>
    BodyPackets,

    /// <summary><c>body.stall</c>: silence at the offset for <c>ms</c> (0: for ever), then closed, or with <c>"close":false</c> continued.</summary>
    BodyStall,

    /// <summary><c>body.trickle</c>: from the offset on one byte per <c>ms</c>, 1,000 unless told.</summary>
    BodyTrickle,

    /// <summary><c>body.fin</c>: closed at the offset.</summary>
    BodyFin,

    /// <summary><c>body.rst</c>: reset at the offset.</summary>
    BodyReset,

    /// <summary><c>body.noterminator</c>: the line with the dot is left out, the connection stays open.</summary>
    BodyNoTerminator,

    /// <summary><c>body.splitterminator</c>: each byte of the terminator in a packet of its own.</summary>
    BodySplitTerminator,

    /// <summary><c>body.dotedge</c>: packets end in the middle of doubled dots.</summary>
    BodyDotEdge,

    /// <summary><c>body.trailing</c>: a line follows the terminator.</summary>
    BodyTrailing,

    /// <summary><c>body.8bit</c>: NUL bytes that an encoder escapes stand bare, and the name has bytes that are no UTF-8.</summary>
    Body8Bit,

    /// <summary><c>yenc.nobegin</c>: no <c>=ybegin</c> line.</summary>
    YencNoBegin,

    /// <summary><c>yenc.noend</c>: no <c>=yend</c> line.</summary>
    YencNoEnd,

    /// <summary><c>yenc.part</c>: the part number is one too high.</summary>
    YencPart,

    /// <summary><c>yenc.begin</c>: <c>begin</c> (and with it <c>end</c>) of another place.</summary>
    YencBegin,

    /// <summary><c>yenc.end</c>: <c>end</c> is too high by one.</summary>
    YencEnd,

    /// <summary><c>yenc.total</c>: a decoy <c>total</c>.</summary>
    YencTotal,

    /// <summary><c>yenc.size</c>: a decoy file size.</summary>
    YencSize,

    /// <summary><c>yenc.name</c>: a decoy name.</summary>
    YencName,

    /// <summary><c>yenc.nototal</c>: no <c>total</c>.</summary>
    YencNoTotal,

    /// <summary><c>yenc.pcrc</c>: a CRC that fits nothing, over true bytes.</summary>
    YencPartCrc,

    /// <summary><c>yenc.short</c>: the last data line is missing, the trailer is unchanged.</summary>
    YencShort,

    /// <summary><c>yenc.long</c>: the first data line is there twice, the trailer is unchanged.</summary>
    YencLong,

    /// <summary><c>yenc.escapeedge</c>: packets end between an escape and its byte.</summary>
    YencEscapeEdge,

    /// <summary><c>yenc.uuencode</c>: the same bytes as uuencode.</summary>
    YencUuencode,

    /// <summary><c>yenc.empty</c>: header and trailer without data.</summary>
    YencEmpty,

    /// <summary><c>yenc.nocrc</c>: no checksum in the trailer.</summary>
    YencNoCrc,

    /// <summary><c>yenc.badcrc</c>: a checksum that is no number.</summary>
    YencBadCrc,

    /// <summary><c>yenc.norange</c>: no <c>=ypart</c> line.</summary>
    YencNoRange,

    /// <summary><c>yenc.badrange</c>: a range that begins behind its end.</summary>
    YencBadRange,

    /// <summary><c>tls.stall</c>: silence after the client's first words.</summary>
    TlsStall,

    /// <summary><c>tls.expired</c>: a certificate that ran out yesterday.</summary>
    TlsExpired,

    /// <summary><c>tls.wronghost</c>: a certificate for another host.</summary>
    TlsWrongHost,

    /// <summary><c>tls.selfsigned</c>: a certificate signed by itself.</summary>
    TlsSelfSigned,

    /// <summary><c>tls.close</c>: closed after the client's first words.</summary>
    TlsClose,

    /// <summary><c>tls.onebyte</c>: the first <c>offset</c> bytes of the connection, 4,096 unless told, in records of one byte each.</summary>
    TlsOneByte,

    /// <summary><c>policy.idle</c>: 400 and closed when no command came for <c>ms</c>, 60,000 unless told.</summary>
    PolicyIdle,

    /// <summary>
    /// <c>policy.cap</c>: no more than <c>limit</c> connections, 1 unless told, however many were allowed before; those beyond it are
    /// told 502 at the greeting, or at their next command, and closed.
    /// </summary>
    PolicyCap,

    /// <summary><c>policy.throttle</c>: each connection gets <c>limit</c> bytes per second, 100,000 unless told.</summary>
    PolicyThrottle,

    /// <summary><c>policy.statlie</c>: STAT says yes, every other command 430.</summary>
    PolicyStatLie,

    /// <summary><c>policy.flap</c>: 430 at every odd try of an article, there at every even one.</summary>
    PolicyFlap,

    /// <summary><c>policy.down</c>: connections and the port are closed while the fault's time lasts.</summary>
    PolicyDown,

    /// <summary><c>policy.nopipelining</c>: a command that arrives while another waits on its connection gets no answer.</summary>
    PolicyNoPipelining,

    /// <summary><c>policy.reorder</c>: of commands that wait on one connection the later one is answered first.</summary>
    PolicyReorder,
}
