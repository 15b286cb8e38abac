using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Shared services of loads, for tests of a part of an engine.</summary>
internal static class TestLoadServices
{
    public static LoadServices Of(IArticleSource source, BlockPool blocks, StreamOptions? options = null, TrustLedger? trust = null)
    {
        var time = TimeProvider.System;
        options ??= new StreamOptions();
        var damage = new DamageLedger(new ReloadTraffic(time), options.AskAgainAfter, time);
        return new LoadServices(source, options, blocks, trust ?? new TrustLedger(time), damage, time, NullLogger.Instance);
    }
}
