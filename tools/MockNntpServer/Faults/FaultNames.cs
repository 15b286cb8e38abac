using System.Collections.Frozen;

namespace Sluice.Tools.MockNntpServer.Faults;

internal enum FaultStage
{
    /// <summary>Never checked, only counted.</summary>
    None,
    Gate,
    Connect,
    Handshake,
    Greeting,
    Login,
    Command,
    Bytes,
    Delivery,

    /// <summary>Checked repeatedly during a connection; counted when it has an effect.</summary>
    Regime,
}

public static class FaultNames
{
    private static readonly (FaultKind Kind, string Name, FaultStage Stage)[] Table =
    [
        (FaultKind.Missing, "missing", FaultStage.Command),
        (FaultKind.Coverage, "coverage", FaultStage.None),
        (FaultKind.Corrupt, "corrupt", FaultStage.Bytes),
        (FaultKind.ConnectRefuse, "connect.refuse", FaultStage.Gate),
        (FaultKind.ConnectBlackhole, "connect.blackhole", FaultStage.Gate),
        (FaultKind.ConnectSlow, "connect.slow", FaultStage.Connect),
        (FaultKind.ConnectClose, "connect.close", FaultStage.Connect),
        (FaultKind.ConnectReset, "connect.reset", FaultStage.Connect),
        (FaultKind.Greeting400, "greeting.400", FaultStage.Greeting),
        (FaultKind.Greeting502, "greeting.502", FaultStage.Greeting),
        (FaultKind.GreetingGarbage, "greeting.garbage", FaultStage.Greeting),
        (FaultKind.GreetingNone, "greeting.none", FaultStage.Greeting),
        (FaultKind.GreetingBanner, "greeting.banner", FaultStage.Greeting),
        (FaultKind.Auth480, "auth.480", FaultStage.Login),
        (FaultKind.Auth481, "auth.481", FaultStage.Login),
        (FaultKind.Auth482, "auth.482", FaultStage.Login),
        (FaultKind.Auth502, "auth.502", FaultStage.Login),
        (FaultKind.AuthSlow, "auth.slow", FaultStage.Login),
        (FaultKind.AuthThen480, "auth.then480", FaultStage.Login),
        (FaultKind.Command423, "command.423", FaultStage.Command),
        (FaultKind.Command430, "command.430", FaultStage.Command),
        (FaultKind.Command451, "command.451", FaultStage.Command),
        (FaultKind.Command500, "command.500", FaultStage.Command),
        (FaultKind.Command503, "command.503", FaultStage.Command),
        (FaultKind.CommandBare, "command.bare", FaultStage.Command),
        (FaultKind.CommandLineFeed, "command.lf", FaultStage.Command),
        (FaultKind.CommandLong, "command.long", FaultStage.Command),
        (FaultKind.CommandOtherId, "command.otherid", FaultStage.Command),
        (FaultKind.CommandSwapped, "command.swapped", FaultStage.Command),
        (FaultKind.CommandTwice, "command.twice", FaultStage.Command),
        (FaultKind.CommandSlow, "command.slow", FaultStage.Command),
        (FaultKind.Command400, "command.400", FaultStage.Command),
        (FaultKind.Command480, "command.480", FaultStage.Command),
        (FaultKind.Command502, "command.502", FaultStage.Command),
        (FaultKind.CommandGarbage, "command.garbage", FaultStage.Command),
        (FaultKind.CommandHalf, "command.half", FaultStage.Command),
        (FaultKind.CommandDrip, "command.drip", FaultStage.Command),
        (FaultKind.BodyEmpty, "body.empty", FaultStage.Delivery),
        (FaultKind.BodyTakedown, "body.takedown", FaultStage.Delivery),
        (FaultKind.BodyPackets, "body.packets", FaultStage.Delivery),
        (FaultKind.BodyStall, "body.stall", FaultStage.Delivery),
        (FaultKind.BodyTrickle, "body.trickle", FaultStage.Delivery),
        (FaultKind.BodyFin, "body.fin", FaultStage.Delivery),
        (FaultKind.BodyReset, "body.rst", FaultStage.Delivery),
        (FaultKind.BodyNoTerminator, "body.noterminator", FaultStage.Delivery),
        (FaultKind.BodySplitTerminator, "body.splitterminator", FaultStage.Delivery),
        (FaultKind.BodyDotEdge, "body.dotedge", FaultStage.Delivery),
        (FaultKind.BodyTrailing, "body.trailing", FaultStage.Delivery),
        (FaultKind.Body8Bit, "body.8bit", FaultStage.Bytes),
        (FaultKind.YencNoBegin, "yenc.nobegin", FaultStage.Bytes),
        (FaultKind.YencNoEnd, "yenc.noend", FaultStage.Bytes),
        (FaultKind.YencPart, "yenc.part", FaultStage.Bytes),
        (FaultKind.YencBegin, "yenc.begin", FaultStage.Bytes),
        (FaultKind.YencEnd, "yenc.end", FaultStage.Bytes),
        (FaultKind.YencTotal, "yenc.total", FaultStage.Bytes),
        (FaultKind.YencSize, "yenc.size", FaultStage.Bytes),
        (FaultKind.YencName, "yenc.name", FaultStage.Bytes),
        (FaultKind.YencNoTotal, "yenc.nototal", FaultStage.Bytes),
        (FaultKind.YencPartCrc, "yenc.pcrc", FaultStage.Bytes),
        (FaultKind.YencShort, "yenc.short", FaultStage.Bytes),
        (FaultKind.YencLong, "yenc.long", FaultStage.Bytes),
        (FaultKind.YencEscapeEdge, "yenc.escapeedge", FaultStage.Delivery),
        (FaultKind.YencUuencode, "yenc.uuencode", FaultStage.Bytes),
        (FaultKind.YencEmpty, "yenc.empty", FaultStage.Bytes),
        (FaultKind.YencNoCrc, "yenc.nocrc", FaultStage.Bytes),
        (FaultKind.YencBadCrc, "yenc.badcrc", FaultStage.Bytes),
        (FaultKind.YencNoRange, "yenc.norange", FaultStage.Bytes),
        (FaultKind.YencBadRange, "yenc.badrange", FaultStage.Bytes),
        (FaultKind.TlsStall, "tls.stall", FaultStage.Handshake),
        (FaultKind.TlsExpired, "tls.expired", FaultStage.Handshake),
        (FaultKind.TlsWrongHost, "tls.wronghost", FaultStage.Handshake),
        (FaultKind.TlsSelfSigned, "tls.selfsigned", FaultStage.Handshake),
        (FaultKind.TlsClose, "tls.close", FaultStage.Handshake),
        (FaultKind.TlsOneByte, "tls.onebyte", FaultStage.Handshake),
        (FaultKind.PolicyIdle, "policy.idle", FaultStage.Regime),
        (FaultKind.PolicyCap, "policy.cap", FaultStage.Regime),
        (FaultKind.PolicyThrottle, "policy.throttle", FaultStage.Regime),
        (FaultKind.PolicyStatLie, "policy.statlie", FaultStage.Command),
        (FaultKind.PolicyFlap, "policy.flap", FaultStage.Command),
        (FaultKind.PolicyDown, "policy.down", FaultStage.Gate),
        (FaultKind.PolicyNoPipelining, "policy.nopipelining", FaultStage.Regime),
        (FaultKind.PolicyReorder, "policy.reorder", FaultStage.Command),
    ];

    private static readonly FrozenDictionary<string, FaultKind> ByName = Table.ToFrozenDictionary(row => row.Name, row => row.Kind);

    public static IEnumerable<FaultKind> Scriptable => Table.Where(row => row.Stage != FaultStage.None).Select(row => row.Kind);

    public static string Of(FaultKind kind) => Table[(int)kind].Name;

    /// <returns>False if the name is unknown or not allowed in scripts.</returns>
    public static bool TryParse(string name, out FaultKind kind) => ByName.TryGetValue(name, out kind) && StageOf(kind) != FaultStage.None;

    internal static FaultStage StageOf(FaultKind kind) => Table[(int)kind].Stage;
}
