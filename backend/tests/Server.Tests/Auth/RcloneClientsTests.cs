using System.Net;
using Microsoft.AspNetCore.Http;
using Sluice.Server.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>Versions of rclone that read the tree.</summary>
public sealed class RcloneClientsTests
{
    private readonly ManualTimeProvider _time = new();

    [Theory]
    [InlineData("rclone/v1.60.1-DEV", "1.60.1")]
    [InlineData("rclone/v1.70.3", "1.70.3")]
    [InlineData("rclone/v1.71.0-beta.8723.f1fb1c1ff", "1.71.0")]
    [InlineData("rclone/1.75.1", "1.75.1")]
    [InlineData("rclone/", "0.0")]
    [InlineData("rclone/v", "0.0")]
    [InlineData("rclone/v1.2.3.4.5", "0.0")]
    [InlineData("rclone/v99999999999.1", "0.0")]
    [InlineData("rclone", null)]
    [InlineData("Mozilla/5.0 rclone/v1.60.1", null)]
    [InlineData("", null)]
    public void Version_is_read_from_the_User_Agent(string agent, string? version) =>
        Assert.Equal(version, RcloneClients.ReadAgent(agent)?.ToString());

    [Fact]
    public void Versions_of_the_last_hour_are_kept_with_the_latest_first()
    {
        var clients = new RcloneClients(_time);
        Assert.Empty(clients.Snapshot());

        // Two versions from one address, as behind the gateway of a container network.
        Note(clients, "10.0.0.1", "rclone/v1.60.1-DEV");
        _time.Advance(TimeSpan.FromMinutes(1));
        Note(clients, "10.0.0.1", "rclone/v1.75.1");
        Note(clients, "10.0.0.1", "curl/8.7");
        Assert.Equal([new Version(1, 75, 1), new Version(1, 60, 1)], clients.Snapshot());

        _time.Advance(TimeSpan.FromMinutes(1));
        Note(clients, "10.0.0.2", "rclone/v1.60.1-DEV");
        Assert.Equal([new Version(1, 60, 1), new Version(1, 75, 1)], clients.Snapshot());

        _time.Advance(TimeSpan.FromMinutes(59));
        Assert.Equal([new Version(1, 60, 1)], clients.Snapshot());
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Empty(clients.Snapshot());
    }

    [Fact]
    public void Rclone_versions_are_limited_in_number()
    {
        var clients = new RcloneClients(_time);
        for (var i = 0; i <= 100; i++)
        {
            Note(clients, "10.0.0.1", $"rclone/v1.{i}");
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(Enumerable.Range(1, 100).Reverse().Select(i => new Version(1, i)), clients.Snapshot());
    }

    private static void Note(RcloneClients clients, string address, string agent)
    {
        var http = new DefaultHttpContext();
        http.Connection.RemoteIpAddress = IPAddress.Parse(address);
        http.Request.Headers.UserAgent = agent;
        clients.Note(http);
    }
}
