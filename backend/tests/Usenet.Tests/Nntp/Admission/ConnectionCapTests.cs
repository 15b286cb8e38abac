using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>How soon a learned connection cap is tested for an increase (F08).</summary>
public sealed class ConnectionCapTests
{
    private const int Promised = 20;

    private readonly ManualTimeProvider _time = new();
    private readonly ProviderOptions _account = new() { Name = "n", Host = "h", MaxConnections = Promised };
    private readonly ProviderMemory _memory;
    private readonly ConnectionCap _cap;

    public ConnectionCapTests()
    {
        _memory = new ProviderMemory(_time);
        _cap = Make();
    }

    [Fact]
    public void Doubtful_cap_recovers_within_seconds()
    {
        _cap.Refused(2, isDoubtful: true, isSure: true);
        Assert.Equal(2, _cap.Current);
        Assert.InRange(SecondsUntilAll(), 2, 12);
        Assert.Null(_memory.CapOf(_account.Id));
    }

    [Fact]
    public void Forgotten_cap_allows_all_configured_connections_at_once()
    {
        _cap.Refused(2, isDoubtful: false, isSure: true);
        Assert.Equal(2, _cap.Learned);

        _cap.Forget();

        Assert.Equal((Promised, null), (_cap.Current, _cap.Learned));
        Assert.Null(_memory.CapOf(_account.Id));
    }

    [Fact]
    public void Confirmed_cap_recovers_fast_after_30_seconds()
    {
        _cap.Refused(2, isDoubtful: false, isSure: true);
        _time.Advance(TimeSpan.FromSeconds(29));
        Assert.Equal(2, _cap.Current);
        Assert.InRange(SecondsUntilAll(), 1, 12);
    }

    [Fact]
    public void Cap_refused_again_doubles_the_retry_interval()
    {
        _cap.Refused(8, isDoubtful: false, isSure: true);
        foreach (var patience in (int[])[30, 60, 120])
        {
            _time.Advance(TimeSpan.FromSeconds(patience - 1));
            Assert.Equal(8, _cap.Current);
            _time.Advance(TimeSpan.FromSeconds(1));
            Assert.Equal(9, _cap.Current);
            _cap.Refused(8, isDoubtful: false, isSure: true);
        }
    }

    [Fact]
    public void Connection_cap_is_not_learned_if_the_server_refuses_all()
    {
        for (var others = 5; others > 0; others--)
            _cap.Refused(others, isDoubtful: false, isSure: false);
        _cap.RefusedAll();
        Assert.Equal(Promised, _cap.Current);
        Assert.Null(_memory.CapOf(_account.Id));
    }

    [Fact]
    public void Configured_limit_change_keeps_a_lower_learned_cap()
    {
        _cap.Change(_account with { MaxConnections = 30 });
        Assert.Equal(30, _cap.Current);
        _cap.Refused(8, isDoubtful: false, isSure: true);
        _cap.Change(_account with { MaxConnections = 50 });
        Assert.Equal(8, _cap.Current);
        _cap.Change(_account with { MaxConnections = 5 });
        Assert.Equal(5, _cap.Current);
        Assert.Equal(5, _cap.Promised);
    }

    [Fact]
    public void Stored_cap_applies_after_recall()
    {
        _memory.Restore(new LearnedValues(new Dictionary<Guid, int?> { [_account.Id] = 7 }, []));
        Assert.Equal(Promised, _cap.Current);
        _cap.Recall();
        Assert.Equal(7, _cap.Current);
        Assert.Equal(7, Make().Current);
    }

    private ConnectionCap Make() => new(
        _account,
        new SharedResources(
            new NntpOptions(), new GlobalOperationLimiter(), new HandshakeLimit(1, _time), new NntpMeter(_time), _memory, _time, NullLogger.Instance));

    private int SecondsUntilAll()
    {
        var seconds = 0;
        for (; _cap.Current < Promised && seconds < 100; seconds++)
        {
            _cap.Reached(_cap.Current);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        _cap.Reached(_cap.Current);
        return seconds;
    }
}
