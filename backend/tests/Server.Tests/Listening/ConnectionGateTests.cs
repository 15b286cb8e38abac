using System.Net;
using Microsoft.AspNetCore.Connections;
using Sluice.Server.Listening;
using Xunit;

namespace Sluice.Server.Tests.Listening;

public sealed class ConnectionGateTests
{
    private readonly ConnectionGate _gate = new(64);

    [Fact]
    public async Task Connection_beyond_the_limit_of_its_address_is_cut_and_others_are_served()
    {
        var held = new TaskCompletionSource();
        var served = 0;
        var guarded = _gate.Guard(_ =>
        {
            served++;
            return held.Task;
        });
        var running = Enumerable.Range(0, 64).Select(_ => guarded(new CountedConnection("192.0.2.1"))).ToList();

        var refused = new CountedConnection("192.0.2.1");
        await guarded(refused);
        Assert.Equal(64, served);
        Assert.Equal(1, refused.Aborts);

        running.Add(guarded(new CountedConnection("192.0.2.2")));
        Assert.Equal(65, served);

        held.SetResult();
        await Task.WhenAll(running);
        await guarded(new CountedConnection("192.0.2.1"));
        Assert.Equal(66, served);
    }

    [Fact]
    public async Task Exempt_address_is_not_counted()
    {
        var gate = new ConnectionGate(1, address => address.Equals(IPAddress.Parse("192.0.2.9")));
        var held = new TaskCompletionSource();
        var guarded = gate.Guard(_ => held.Task);
        var proxied = Enumerable.Range(0, 3).Select(_ => new CountedConnection("192.0.2.9")).ToList();
        var others = Enumerable.Range(0, 3).Select(_ => new CountedConnection("192.0.2.1")).ToList();

        var running = proxied.Concat(others).Select(connection => guarded(connection)).ToList();
        held.SetResult();
        await Task.WhenAll(running);

        Assert.Equal(0, proxied.Sum(connection => connection.Aborts));
        Assert.Equal(2, others.Sum(connection => connection.Aborts));
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("::1")]
    [InlineData("::ffff:127.0.0.1")]
    public async Task Loopback_is_not_counted(string address)
    {
        var held = new TaskCompletionSource();
        var served = 0;
        var guarded = _gate.Guard(_ =>
        {
            served++;
            return held.Task;
        });

        var running = Enumerable.Range(0, 100).Select(_ => guarded(new CountedConnection(address))).ToList();

        Assert.Equal(100, served);
        held.SetResult();
        await Task.WhenAll(running);
    }

    [Fact]
    public async Task Connection_that_breaks_is_counted_off()
    {
        var guarded = _gate.Guard(_ => throw new IOException());

        for (var i = 0; i < 65; i++)
            await Assert.ThrowsAsync<IOException>(() => guarded(new CountedConnection("192.0.2.1")));
    }

    private sealed class CountedConnection : DefaultConnectionContext
    {
        public CountedConnection(string address) => RemoteEndPoint = new IPEndPoint(IPAddress.Parse(address), 1);

        public int Aborts { get; private set; }

        public override void Abort(ConnectionAbortedException abortReason) => Aborts++;
    }
}
