using System.Net;
using Microsoft.AspNetCore.Http;
using Sluice.Server.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>The versions of rclone that read the tree.</summary>
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
    public void Oldest_version_counts_until_updated_or_gone_for_an_hour()
    {
        var clients = new RcloneClients(_time);
        Assert.Null(clients.FindOldest());

        Note(clients, "10.0.0.1", "rclone/v1.60.1-DEV");
        Note(clients, "10.0.0.2", "rclone/v1.75.1");
        Note(clients, "10.0.0.3", "curl/8.7");
        Assert.Equal(new Version(1, 60, 1), clients.FindOldest());

        Note(clients, "10.0.0.1", "rclone/v1.70.3");
        Assert.Equal(RcloneClients.FirstWithLinks, clients.FindOldest());

        _time.Advance(TimeSpan.FromMinutes(59));
        Note(clients, "10.0.0.2", "rclone/v1.75.1");
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(new Version(1, 75, 1), clients.FindOldest());
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Null(clients.FindOldest());
    }

    [Fact]
    public void Number_of_addresses_is_limited()
    {
        var clients = new RcloneClients(_time);
        Note(clients, "10.0.0.0", "rclone/v1.60.1");
        for (var i = 1; i <= 100; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            Note(clients, $"10.0.0.{i}", "rclone/v1.75.1");
        }

        Assert.Equal(new Version(1, 75, 1), clients.FindOldest());
    }

    private static void Note(RcloneClients clients, string address, string agent)
    {
        var http = new DefaultHttpContext();
        http.Connection.RemoteIpAddress = IPAddress.Parse(address);
        http.Request.Headers.UserAgent = agent;
        clients.Note(http);
    }
}
