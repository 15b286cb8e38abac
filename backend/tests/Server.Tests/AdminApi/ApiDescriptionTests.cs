using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary><c>frontend/openapi.json</c>, the source of the web UI's types, matches the server.</summary>
public sealed class ApiDescriptionTests
{
    private static readonly string File = Repository.PathOf("frontend/openapi.json");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Compares the file, or writes it if tools/openapi.sh has set the variable.</summary>
    [Fact]
    public async Task Committed_openapi_json_matches_the_server()
    {
        var made = await ApiDescription.MakeAsync(Token);
        if (Environment.GetEnvironmentVariable("SLUICE_WRITE_OPENAPI") == "1")
        {
            Directory.CreateDirectory(Path.GetDirectoryName(File)!);
            await System.IO.File.WriteAllTextAsync(File, made, Token);
        }

        var committed = await System.IO.File.ReadAllTextAsync(File, Token);
        Assert.True(made == committed, "frontend/openapi.json is not that of the server; run tools/openapi.sh and commit what it writes.");
    }

    [Fact]
    public async Task Openapi_json_is_served_to_authorized_callers_only()
    {
        using var folder = new TemporaryFolder();
        await using var server = await ResourceServer.StartAsync(folder);

        var served = await server.SendTextAsync(HttpMethod.Get, "openapi.json", null, "", HttpStatusCode.OK);
        server.Server.Client.DefaultRequestHeaders.Clear();
        await server.SendTextAsync(HttpMethod.Get, "openapi.json", null, "", HttpStatusCode.Unauthorized);

        Assert.Equal(await System.IO.File.ReadAllTextAsync(File, Token), served);
    }

    [Fact]
    public async Task Description_covers_enums_required_nullable_and_errors()
    {
        var document = JsonNode.Parse(await ApiDescription.MakeAsync(Token))!;

        var schemas = document["components"]!["schemas"]!;
        Assert.Equal(["account", "provider", "try", "apps", "done"], schemas["SetupStage"]!["enum"]!.AsArray().Select(word => word!.GetValue<string>()));
        Assert.Equal(["code", "user", "password"], schemas["SetupRequest"]!["required"]!.AsArray().Select(word => word!.GetValue<string>()));
        Assert.Equal("integer", schemas["SettingValues"]!["properties"]!["seq"]!["type"]!.GetValue<string>());
        Assert.Equal(["null", "string"], schemas["SettingValue"]!["properties"]!["variable"]!["type"]!.AsArray().Select(type => type!.GetValue<string>()).Order());
        Assert.Equal(["null", "string"], schemas["SettingsSave"]!["properties"]!["values"]!["additionalProperties"]!["type"]!.AsArray().Select(type => type!.GetValue<string>()).Order());
        Assert.All(schemas.AsObject(), schema => Assert.DoesNotContain(null, schema.Value!["enum"]?.AsArray() ?? []));
        Assert.Equal(
            ["file", "category", "name", "password", "priority"],
            schemas["QueueUpload"]!["properties"]!.AsObject().Select(property => property.Key));
        Assert.NotNull(schemas["EventPayloads"]!["properties"]!["queue"]);
        var operations = document["paths"]!.AsObject().SelectMany(path => path.Value!.AsObject()).Select(operation => operation.Value!).ToList();
        Assert.Equal(operations.Count, operations.Select(operation => operation["operationId"]!.GetValue<string>()).Distinct().Count());
        Assert.All(operations, operation => Assert.NotNull(operation["responses"]!["default"]!["content"]!["application/problem+json"]));
    }
}
