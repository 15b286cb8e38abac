using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Which silence of a connection counts as a stall (F11), on a manual clock.</summary>
public sealed class ReplySilenceTests : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(100);
    private static readonly NntpOptions Options = new() { HedgeFloor = Patience };

    private readonly ManualTimeProvider _clock = new();
    private readonly PendingReplies _sent = new();
    private readonly LineEstimate _provider;
    private readonly LineEstimate _line;
    private readonly ConnectionClock _silence;
    private bool _hasUnread;

    public ReplySilenceTests()
    {
        _provider = new LineEstimate(_clock);
        _line = new LineEstimate(_clock, _provider);
        _silence = new ConnectionClock(_sent, _line, TestResources.Of(Options, _clock), () => _hasUnread, isOfTheFloor: () => false, act: _ => { });
        for (var i = 0; i < 32; i++)
            _provider.Silences.Observe(TimeSpan.FromMilliseconds(10));
        _clock.Advance(TimeSpan.FromHours(1));
    }

    [Fact]
    public void F11_Connection_without_pending_replies_is_never_late()
    {
        _clock.Advance(TimeSpan.FromHours(1));
        Assert.False(_silence.IsLate(out _));
        Assert.False(_silence.IsUnusual);
    }

    [Fact]
    public void F11_Silence_starts_one_round_trip_after_the_command()
    {
        var before = _clock.GetTimestamp();
        _clock.Advance(TimeSpan.FromMilliseconds(50));
        _line.ObserveRoundTrip(before);
        Send(isHeadOfLine: true);
        Assert.False(_silence.IsLate(out var due));
        Assert.Equal(TimeSpan.FromMilliseconds(150), due);
        _clock.Advance(TimeSpan.FromMilliseconds(149));
        Assert.False(_silence.IsLate(out _));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(_silence.IsLate(out _));
    }

    [Fact]
    public void F11_Slow_reply_does_not_make_the_next_one_late()
    {
        Send(isHeadOfLine: true);
        Send(isHeadOfLine: true);
        for (var i = 0; i < 30; i++)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(90));
            _silence.Received(16_384, _clock.GetTimestamp());
            Assert.False(_silence.IsLate(out _));
        }

        _silence.Ended();
        Assert.True(_sent.TryRemove(_clock.GetTimestamp(), out _));
        _clock.Advance(TimeSpan.FromMilliseconds(90));
        Assert.False(_silence.IsLate(out _));
    }

    [Fact]
    public void F11_A_few_bytes_do_not_end_the_silence()
    {
        Send(isHeadOfLine: true);
        for (var i = 0; i < 10; i++)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(10));
            _silence.Received(100, _clock.GetTimestamp());
        }

        Assert.True(_silence.IsLate(out _));
        _silence.Received(24, _clock.GetTimestamp());
        Assert.False(_silence.IsLate(out _));
    }

    [Fact]
    public void F11_Read_ahead_is_late_only_while_other_connections_deliver()
    {
        Send(isHeadOfLine: false);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(_silence.IsLate(out _));
        _provider.Silences.Heard(_clock.GetTimestamp());
        Assert.True(_silence.IsLate(out _));
    }

    [Fact]
    public void F11_Unread_bytes_do_not_count_as_silence()
    {
        Send(isHeadOfLine: true);
        _clock.Advance(TimeSpan.FromSeconds(1));
        _hasUnread = true;
        Assert.False(_silence.IsLate(out _));
        _hasUnread = false;
        Assert.True(_silence.IsLate(out _));
    }

    [Fact]
    public void F11_Silence_limit_grows_if_one_in_ten_is_abandoned()
    {
        for (var i = 0; i < 256; i++)
        {
            Send(isHeadOfLine: true);
            if (i % 10 == 0)
            {
                _clock.Advance(Patience);
                _silence.GivenUp();
            }
            else
            {
                _silence.Received(16_384, _clock.GetTimestamp());
                _silence.Ended();
            }

            Assert.True(_sent.TryRemove(_clock.GetTimestamp(), out _));
        }

        Assert.True(ConnectionClock.SilenceLimit(_line, Options) >= 4 * Patience, $"{ConnectionClock.SilenceLimit(_line, Options)}");
    }

    public ValueTask DisposeAsync() => _silence.DisposeAsync();

    private void Send(bool isHeadOfLine)
    {
        var request = new ArticleRequest(MessageId.Parse("1@t"), OperationLane.Playback, new FetchUrgency(this, isHeadOfLine));
        var body = new ArticleBody(new ConnectionLease(request), new CollectingSink()) { SentAt = _clock.GetTimestamp() };
        Assert.True(_sent.TryAdd(body, out _));
    }
}
