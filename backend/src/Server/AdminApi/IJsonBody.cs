using System.Reflection;
using System.Text.Json;
using Microsoft.AspNetCore.Http.Json;
using Microsoft.AspNetCore.Http.Metadata;
using Microsoft.Extensions.Options;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The JSON body of a call. The first call with such a body resolves its type info. Ordinary body parameters would resolve every type at startup, which takes a
/// sixth of the startup time.
/// </summary>
internal interface IJsonBody<T> : IBindableFromHttpContext<T>, IEndpointParameterMetadataProvider
    where T : class, IJsonBody<T>
{
    /// <summary>Reads the body. Routing has already refused other content types.</summary>
    /// <returns>Null for the JSON literal null; the framework refuses null like any wrong shape.</returns>
    /// <exception cref="BadHttpRequestException">The body has the wrong shape (400) or is too long (413).</exception>
    static async ValueTask<T?> IBindableFromHttpContext<T>.BindAsync(HttpContext context, ParameterInfo parameter)
    {
        var json = context.RequestServices.GetRequiredService<IOptions<JsonOptions>>().Value.SerializerOptions;
        try
        {
            return (T?)await context.Request.ReadFromJsonAsync(json.GetTypeInfo(typeof(T)), context.RequestAborted);
        }
        catch (JsonException e)
        {
            throw new BadHttpRequestException("The body is not of the shape that the call takes.", StatusCodes.Status400BadRequest, e);
        }
    }

    /// <summary>Describes the body for the API description.</summary>
    static void IEndpointParameterMetadataProvider.PopulateMetadata(ParameterInfo parameter, EndpointBuilder builder) =>
        builder.Metadata.Add(new AcceptsMetadata(["application/json"], typeof(T)));
}
