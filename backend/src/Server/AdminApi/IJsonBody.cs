using System.Reflection;
using System.Text.Json;
using Microsoft.AspNetCore.Http.Json;
using Microsoft.AspNetCore.Http.Metadata;
using Microsoft.Extensions.Options;

namespace Sluice.Server.AdminApi;

/// <summary>
/// A shape that a call takes as its body, in JSON. How it stands in JSON is looked up by the first call that brings one: with an ordinary
/// parameter of the body the start of the server works that out for each call that there is, which is a sixth of its time.
/// </summary>
/// <typeparam name="T">The shape itself; one of the contexts of <see cref="AdminJson"/> has it.</typeparam>
internal interface IJsonBody<T> : IBindableFromHttpContext<T>, IEndpointParameterMetadataProvider
    where T : class, IJsonBody<T>
{
    /// <summary>Reads the body of a call, which is of JSON by its type: another one does not lead to the call.</summary>
    /// <returns>Null for the word null, which is refused like a body of another shape.</returns>
    /// <exception cref="BadHttpRequestException">It is not of this shape (400), or too long (413).</exception>
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

    /// <summary>Names the shape in the description of the call.</summary>
    static void IEndpointParameterMetadataProvider.PopulateMetadata(ParameterInfo parameter, EndpointBuilder builder) =>
        builder.Metadata.Add(new AcceptsMetadata(["application/json"], typeof(T)));
}
