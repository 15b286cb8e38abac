using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Sluice.Server.Listening;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Listening;

/// <summary>Connections that ConnectionGate admits, and strangers that it closes to make room (DAV-77, S25).</summary>
public sealed class ConnectionGateTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ManualTimeProvider _time = new();
    private readonly TaskCompletionSource _held = new();
    private readonly List<Task> _running = [];
    private readonly ConnectionDelegate _guarded;
    private ConnectionGate _gate;

    public ConnectionGateTests()
    {
        _gate = Gate(total: 512);
        _guarded = connection => _gate.Guard(opened => ((CountedConnection)opened).ServeAsync(_held.Task))(connection);
    }

    [Fact]
    public async Task Connection_above_the_per_address_limit_is_refused()
    {
        var first = Open("192.0.2.1", 64);
        first.ForEach(connection => connection.Place!.BeginRequest());

        var refused = Open("192.0.2.1");
        Assert.Equal((false, 1), (refused.IsServed, refused.Aborts));
        Assert.True(Open("192.0.2.2").IsServed);
        Assert.Equal(0, first.Sum(connection => connection.Aborts));

        await EndAsync();
        Assert.True(Open("192.0.2.1").IsServed);
    }

    [Fact]
    public void Address_at_its_limit_closes_its_longest_idle_stranger()
    {
        var other = Open("192.0.2.2");
        var first = Open("192.0.2.1", 64);
        first[0].Place!.BeginRequest();
        _time.Advance(Second);
        first[1].Place!.BeginRequest();
        first[1].Place!.EndRequest();

        Assert.True(Open("192.0.2.1").IsServed);

        // The first is busy, and the second was busy most recently.
        Assert.Equal([2], first.Index().Where(each => each.Item.Aborts > 0).Select(each => each.Index));
        Assert.Equal(0, other.Aborts);
    }

    [Fact]
    public void Strangers_from_one_IPv6_prefix_share_one_limit()
    {
        var strangers = Enumerable.Range(0, 64).Select(i => Open($"2001:db8:0:1::{i + 1:x}")).ToList();
        strangers.ForEach(connection => connection.Place!.BeginRequest());

        Assert.False(Open("2001:db8:0:1::ffff").IsServed);
        Assert.True(Open("2001:db8:0:2::1").IsServed);
    }

    [Fact]
    public void Each_authenticated_IPv6_device_has_its_own_limit()
    {
        for (var device = 1; device <= 4; device++)
        {
            foreach (var connection in Open($"2001:db8:0:1::{device}", 60))
            {
                connection.Place!.BeginRequest();
                connection.Place.Prove();
            }
        }

        Assert.All(Open("2001:db8:0:1::9", 64), connection => Assert.True(connection.IsServed));
        var proved = Open("2001:db8:0:1::1", 4);
        proved.ForEach(connection => connection.Place!.Prove());
        Assert.False(Open("2001:db8:0:1::1").IsServed);
    }

    [Fact]
    public void Idle_connections_from_one_prefix_leave_room_for_others()
    {
        var strangers = Enumerable.Range(0, 512).Select(i => Open($"2001:db8:0:1::{(i / 64) + 1:x}")).ToList();

        Assert.Equal(448, strangers.Sum(connection => connection.Aborts));
        Assert.True(Open("192.0.2.1").IsServed);
        Assert.Equal(448, strangers.Sum(connection => connection.Aborts));
    }

    [Fact]
    public void Full_server_closes_its_longest_idle_stranger()
    {
        _gate = Gate(total: 4);
        var proved = Open("192.0.2.1");
        proved.Place!.Prove();
        _time.Advance(Second);
        var busy = Open("192.0.2.2");
        busy.Place!.BeginRequest();
        _time.Advance(Second);
        var idle = Open("192.0.2.3");
        _time.Advance(Second);
        var later = Open("192.0.2.4");

        Assert.True(Open("192.0.2.5").IsServed);
        Assert.Equal((0, 0, 1, 0), (proved.Aborts, busy.Aborts, idle.Aborts, later.Aborts));
    }

    [Fact]
    public void Full_server_without_idle_strangers_ends_the_oldest_request()
    {
        _gate = Gate(total: 3);
        Open("192.0.2.1").Place!.Prove();
        var (first, second) = (Open("192.0.2.2"), Open("192.0.2.3"));
        first.Place!.BeginRequest();
        _time.Advance(Second);
        second.Place!.BeginRequest();

        Assert.True(Open("192.0.2.4").IsServed);
        Assert.Equal((1, 0), (first.Aborts, second.Aborts));
    }

    [Fact]
    public void Server_full_of_authenticated_clients_accepts_only_loopback()
    {
        _gate = Gate(total: 2, loopback: 1);
        Open("192.0.2.1", 2).ForEach(connection => connection.Place!.Prove());

        Assert.False(Open("192.0.2.2").IsServed);
        Assert.True(Open("127.0.0.1").IsServed);
        Assert.False(Open("127.0.0.1").IsServed);
    }

    [Fact]
    public void Stranger_is_closed_after_fifteen_idle_seconds()
    {
        var (idle, busy, proved, local) = (Open("192.0.2.1"), Open("192.0.2.1"), Open("192.0.2.1"), Open("127.0.0.1"));
        busy.Place!.BeginRequest();
        proved.Place!.BeginRequest();
        proved.Place.Prove();
        proved.Place.EndRequest();

        _time.Advance(TimeSpan.FromSeconds(15));
        Assert.Equal((1, 0, 0, 0), (idle.Aborts, busy.Aborts, proved.Aborts, local.Aborts));

        busy.Place.EndRequest();
        _time.Advance(TimeSpan.FromSeconds(14));
        Assert.Equal(0, busy.Aborts);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal((1, 0, 0), (busy.Aborts, proved.Aborts, local.Aborts));
    }

    [Fact]
    public void Proxy_connection_is_evicted_only_while_serving_a_stranger()
    {
        _gate = Gate(total: 2, isTrusted: address => address.Equals(IPAddress.Parse("192.0.2.9")));
        var (idle, busy) = (Open("192.0.2.9"), Open("192.0.2.9"));
        busy.Place!.BeginRequest();
        busy.Place.Prove();
        busy.Place.EndRequest();
        Assert.False(Open("192.0.2.1").IsServed);

        // One client's login does not count for the next client of the same proxy.
        busy.Place.BeginRequest();
        Assert.True(Open("192.0.2.1").IsServed);
        Assert.Equal((0, 1), (idle.Aborts, busy.Aborts));
    }

    [Fact]
    public async Task Stranger_requests_behind_a_proxy_are_limited_by_prefix()
    {
        var strangers = Enumerable.Range(0, 64).Select(i => Forward($"2001:db8:0:1::{i + 1:x}")).ToList();
        Assert.Equal(StatusCodes.Status429TooManyRequests, Forward("2001:db8:0:1::ffff").Response.StatusCode);

        strangers[0].Features.Get<ClientPlace>()!.Prove();
        Assert.Equal(StatusCodes.Status200OK, Forward("2001:db8:0:1::ffff").Response.StatusCode);
        await EndAsync();
    }

    [Fact]
    public async Task Exempt_address_is_not_counted()
    {
        _gate = Gate(total: 512, isTrusted: address => address.Equals(IPAddress.Parse("192.0.2.9")));

        Assert.All(Open("192.0.2.9", 100), connection => Assert.True(connection.IsServed));
        await EndAsync();
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("::1")]
    [InlineData("::ffff:127.0.0.1")]
    public async Task Loopback_is_not_counted(string address)
    {
        Assert.All(Open(address, 100), connection => Assert.True(connection.IsServed));
        await EndAsync();
    }

    [Fact]
    public async Task Broken_connection_frees_its_slot()
    {
        var guarded = _gate.Guard(_ => throw new IOException());

        for (var i = 0; i < 65; i++)
            await Assert.ThrowsAsync<IOException>(() => guarded(new CountedConnection("192.0.2.1")));
        Assert.Equal(0, _time.Alive);
    }

    [Fact]
    public void Stranger_is_aborted_even_if_the_new_client_is_refused()
    {
        _gate = Gate(total: 65);
        var client = Open("192.0.2.1", 64);
        foreach (var connection in client.Skip(1))
        {
            connection.Place!.BeginRequest();
            connection.Place.Prove();
        }

        // Loopback may exceed the total, so closing the stranger does not make room in it.
        Open("127.0.0.1", 9);
        Assert.False(Open("192.0.2.1").IsServed);

        Assert.Equal(1, client[0].Aborts);
    }

    private ConnectionGate Gate(int total, int loopback = 8, Func<IPAddress, bool>? isTrusted = null) =>
        new(new ConnectionLimits(total, loopback, PerClient: 64, TimeSpan.FromSeconds(15)), _time, isTrusted);

    private CountedConnection Open(string address)
    {
        var connection = new CountedConnection(address);
        _running.Add(_guarded(connection));
        return connection;
    }

    private List<CountedConnection> Open(string address, int count) => [.. Enumerable.Range(0, count).Select(_ => Open(address))];

    private DefaultHttpContext Forward(string client)
    {
        var context = new DefaultHttpContext();
        context.Connection.RemoteIpAddress = IPAddress.Parse(client);
        _running.Add(_gate.ServeAsync(context, isForwarded: true, _ => _held.Task));
        return context;
    }

    private async Task EndAsync()
    {
        _held.SetResult();
        await Task.WhenAll(_running);
        Assert.Equal(0, _time.Alive);
    }

    private sealed class CountedConnection : DefaultConnectionContext
    {
        public CountedConnection(string address) => RemoteEndPoint = new IPEndPoint(IPAddress.Parse(address), 1);

        public int Aborts { get; private set; }

        public bool IsServed { get; private set; }

        public ClientPlace? Place => Features.Get<ClientPlace>();

        public override void Abort(ConnectionAbortedException abortReason) => Aborts++;

        public Task ServeAsync(Task held)
        {
            IsServed = true;
            return held;
        }
    }
}
