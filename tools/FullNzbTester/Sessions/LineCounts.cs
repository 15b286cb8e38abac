using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Mock;

namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>Commands to the providers and bytes from them.</summary>
/// <param name="Abandoned">Abandoned connection attempts that may have reached the provider; 0 if the provider itself counts.</param>
/// <param name="Peak">Maximum number of connections open at once.</param>
internal readonly record struct LineCounts(long Commands, long Bodies, long Bytes, long Opened, long Abandoned, long Peak)
{
    public static LineCounts Of(in NntpCounters engine) =>
        new(engine.Commands, engine.Bodies, engine.BytesReceived, engine.SocketsOpened, engine.SocketsAbandoned, engine.SocketsPeak);

    public static LineCounts Of(ProviderCounts mock) => new(mock.Commands, mock.Bodies, mock.Bytes, mock.Opened, 0, mock.Peak);

    public LineCounts Since(in LineCounts start) =>
        new(Commands - start.Commands, Bodies - start.Bodies, Bytes - start.Bytes, Opened - start.Opened, Abandoned - start.Abandoned, Peak);
}
