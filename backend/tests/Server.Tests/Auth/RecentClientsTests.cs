using System.Net;
using Microsoft.AspNetCore.Http;
using Sluice.Server.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>The WebDAV clients of the last day.</summary>
public sealed class RecentClientsTests
{
    private readonly ManualTimeProvider _time = new();

    [Theory]
    [InlineData("rclone/v1.66.0", "rclone 1.66")]
    [InlineData("rclone/v1.70.3", "rclone 1.70.3")]
    [InlineData("rclone/v1.60.1-DEV", "rclone 1.60.1-DEV")]
    [InlineData("rclone/", "rclone")]
    [InlineData("VLC/3.0.20 LibVLC/3.0.20", "VLC 3.0.20")]
    [InlineData("davfs2/1.6", "davfs2 1.6")]
    [InlineData("Infuse/8.0", "Infuse 8.0")]
    [InlineData("Kodi", "Kodi")]
    [InlineData("/1.0", "a client")]
    [InlineData("  ", "a client")]
    [InlineData("", "a client")]
    public void Name_is_the_first_product_with_its_version(string agent, string name) => Assert.Equal(name, RecentClients.ReadName(agent));

    [Fact]
    public void Latest_client_is_listed_first_with_its_last_request()
    {
        var clients = new RecentClients(_time);
        Note(clients, "10.0.0.1", "rclone/v1.66.0");
        _time.Advance(TimeSpan.FromSeconds(3));
        Note(clients, "10.0.0.2", "VLC/3.0.20");
        _time.Advance(TimeSpan.FromSeconds(3));
        Note(clients, "10.0.0.1", "rclone/v1.66.0");

        var seen = clients.Snapshot(5);

        Assert.Equal([("rclone 1.66", "10.0.0.1"), ("VLC 3.0.20", "10.0.0.2")], seen.Select(client => (client.Name, client.Address)));
        Assert.Equal(TimeSpan.FromSeconds(3), seen[0].LastAt - seen[1].LastAt);
        Assert.Single(clients.Snapshot(1));
    }

    [Fact]
    public void Client_without_password_is_shown_but_not_locked_out()
    {
        var clients = new RecentClients(_time);
        Note(clients, "10.0.0.1", "rclone/v1.66.0", hasPassword: false);
        Note(clients, "10.0.0.2", "rclone/v1.66.0");

        Assert.Equal(2, clients.Snapshot(5).Count);
        Assert.Equal(["rclone/v1.66.0 at 10.0.0.2"], clients.ListPasswordUsers());
    }

    [Fact]
    public void Clients_are_limited_in_number_length_and_age()
    {
        var clients = new RecentClients(_time);
        for (var i = 0; i < 150; i++)
        {
            Note(clients, "10.0.0.1", $"client-{i}/{new string('1', 200)}\u0007");
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        var seen = clients.Snapshot(1_000);
        Assert.Equal(100, seen.Count);
        Assert.StartsWith("client-149 ", seen[0].Name, StringComparison.Ordinal);
        Assert.All(seen, client => Assert.True(client.Name.Length <= 80 && !client.Name.Any(char.IsControl)));

        _time.Advance(TimeSpan.FromDays(1));
        Assert.Empty(clients.Snapshot(5));
    }

    private static void Note(RecentClients clients, string address, string agent, bool hasPassword = true)
    {
        var http = new DefaultHttpContext();
        http.Connection.RemoteIpAddress = IPAddress.Parse(address);
        http.Request.Headers.UserAgent = agent;
        clients.Note(http, hasPassword);
    }
}
