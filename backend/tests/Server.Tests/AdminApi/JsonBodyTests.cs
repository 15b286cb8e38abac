using System.Net;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Http.Metadata;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.AdminApi;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Calls with a JSON body (<see cref="IJsonBody{T}"/>).</summary>
public sealed class JsonBodyTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("""{"level":"debug"}""", "application/json", HttpStatusCode.OK)]
    [InlineData("""{"level":"debug"}""", "application/vnd.sluice+json", HttpStatusCode.OK)]
    [InlineData("""{"level":"debug"}""", "text/plain", HttpStatusCode.NotFound)]
    [InlineData("""{"level":"loud"}""", "application/json", HttpStatusCode.BadRequest)]
    [InlineData("""{"level":"debug","volume":11}""", "application/json", HttpStatusCode.BadRequest)]
    [InlineData("""{"level":""", "application/json", HttpStatusCode.BadRequest)]
    [InlineData("""["debug"]""", "application/json", HttpStatusCode.BadRequest)]
    [InlineData("null", "application/json", HttpStatusCode.BadRequest)]
    [InlineData("", "application/json", HttpStatusCode.BadRequest)]
    [InlineData(null, "", HttpStatusCode.NotFound)]
    public async Task Invalid_JSON_body_is_refused_with_a_problem(string? body, string type, HttpStatusCode status)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        var answer = JsonNode.Parse(await server.SendTextAsync(HttpMethod.Put, "logs/level", body, type, status))!;

        // Calls are routed by content type as well as by path, so a wrong type is not found.
        var problem = status switch
        {
            HttpStatusCode.OK => null,
            HttpStatusCode.NotFound => "not-found",
            _ => "bad-input",
        };
        Assert.Equal(problem, answer["type"]?.ToString());
    }

    [Fact]
    public async Task Every_JSON_body_type_implements_IJsonBody()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var bodies = server.Server.Services.GetRequiredService<EndpointDataSource>().Endpoints
            .Select(endpoint => endpoint.Metadata.GetMetadata<IAcceptsMetadata>())
            .Where(accepts => accepts?.ContentTypes.Contains("application/json") == true)
            .Select(accepts => accepts!.RequestType!)
            .ToList();

        Assert.NotEmpty(bodies);
        Assert.All(bodies, body => Assert.Contains(typeof(IJsonBody<>).MakeGenericType(body), body.GetInterfaces()));
    }
}
