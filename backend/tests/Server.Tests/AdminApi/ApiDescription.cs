using System.Reflection;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.OpenApi;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.OpenApi;
using Sluice.Server.AdminApi;
using Sluice.Server.Arr;
using Sluice.Server.Auth;
using Sluice.Server.Playbacks;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>
/// Describes the admin API from its routes and records. The server is built but never started, so no folder and no socket is opened.
/// </summary>
internal static class ApiDescription
{
    private const string Key = "key";
    private const string ProblemType = "application/problem+json";

    /// <summary>Schema names for types of other rooms, so that a type can be renamed without changing the API.</summary>
    private static readonly Dictionary<Type, string> Names = new()
    {
        [typeof(QueuePriority)] = "JobPriority",
        [typeof(ItemState)] = "JobState",
        [typeof(SettingGroup)] = "SettingFieldGroup",
        [typeof(SettingOrigin)] = "SettingValueSource",
        [typeof(ArrKind)] = "ArrProgram",
        [typeof(ArrAction)] = "ArrPlanAction",
        [typeof(ArrChange)] = "ArrFieldChange",
        [typeof(TrackKind)] = "FileTrackKind",
        [typeof(PlaybackSeek)] = "StreamSeek",
    };

    /// <summary>The text of <c>frontend/openapi.json</c>.</summary>
    public static async Task<string> MakeAsync(CancellationToken cancel)
    {
        WebApplication? app = null;
        app = Program.Build(new ProcessEnvironment(new Dictionary<string, string> { ["CONFIG_PATH"] = "/nowhere" }), services =>
        {
            // Otherwise the services know the routes only while the application runs.
            services.Replace(ServiceDescriptor.Singleton<EndpointDataSource>(_ => new CompositeEndpointDataSource(((IEndpointRouteBuilder)app!).DataSources)));
            services.AddOpenApi(Configure);
        });
        await using (app)
        {
            var document = await app.Services.GetRequiredKeyedService<IOpenApiDocumentProvider>("v1").GetOpenApiDocumentAsync(cancel);
            return await document.SerializeAsJsonAsync(OpenApiSpecVersion.OpenApi3_1, cancel) + "\n";
        }
    }

    private static void Configure(OpenApiOptions options)
    {
        options.OpenApiVersion = OpenApiSpecVersion.OpenApi3_1;
        options.ShouldInclude = call => call.ActionDescriptor.EndpointMetadata.OfType<AdminEndpoint>().Any();
        options.CreateSchemaReferenceId = type => Names.GetValueOrDefault(Plain(type.Type)) ?? OpenApiOptions.CreateDefaultSchemaReferenceId(type);
        options.AddSchemaTransformer(CorrectAsync);
        options.AddOperationTransformer(AddProblemAsync);
        options.AddDocumentTransformer(FinishAsync);
    }

    /// <summary>Adds what the generator misses: enums are strings, map values may be null, and responses may gain members (ADM-6).</summary>
    private static Task CorrectAsync(OpenApiSchema schema, OpenApiSchemaTransformerContext context, CancellationToken cancel)
    {
        schema.AdditionalPropertiesAllowed = true;
        if (schema.Enum is { Count: > 0 } words)
        {
            schema.Type ??= JsonSchemaType.String;
            // Null is not a value of the enum: the schema of each member says whether it may be null.
            schema.Enum = [.. words.Where(word => word is not null && !word.IsJsonNullSentinel())];
            // The generator sorts a negative value last.
            if (Plain(context.JsonTypeInfo.Type) == typeof(QueuePriority))
                schema.Enum = [schema.Enum[^1], .. schema.Enum.SkipLast(1)];
        }

        if (schema.AdditionalProperties is OpenApiSchema { Type: not null } values
            && context.JsonPropertyInfo?.AttributeProvider is PropertyInfo property
            && new NullabilityInfoContext().Create(property).GenericTypeArguments is [_, { ReadState: NullabilityState.Nullable }])
        {
            values.Type |= JsonSchemaType.Null;
        }

        return Task.CompletedTask;
    }

    private static Type Plain(Type type) => Nullable.GetUnderlyingType(type) ?? type;

    /// <summary>Adds the error response that every call has (ADM-3), and the credential unless the call is an <see cref="OpenEndpoint"/>.</summary>
    private static async Task AddProblemAsync(OpenApiOperation operation, OpenApiOperationTransformerContext context, CancellationToken cancel)
    {
        if (context.Document is not { } document)
            throw new InvalidOperationException("An operation stands in no document.");
        if (document.Components?.Schemas?.ContainsKey(nameof(Problem)) != true)
            document.AddComponent(nameof(Problem), await context.GetOrCreateSchemaAsync(typeof(Problem), null, cancel));
        operation.Responses ??= [];
        operation.Responses["default"] = new OpenApiResponse
        {
            Description = "An error.",
            Content = new Dictionary<string, OpenApiMediaType>
            {
                [ProblemType] = new() { Schema = new OpenApiSchemaReference(nameof(Problem), document) },
            },
        };
        operation.Tags = null;
        if (context.Description.ActionDescriptor.EndpointMetadata.OfType<OpenEndpoint>().Any())
            operation.Security = [];
    }

    private static Task FinishAsync(OpenApiDocument document, OpenApiDocumentTransformerContext context, CancellationToken cancel)
    {
        document.Info = new OpenApiInfo { Title = "Sluice", Version = typeof(Program).Assembly.GetName().Version!.ToString(3) };
        // The description does not know the server's address.
        document.Servers = null;
        document.Tags = null;
        document.AddComponent(Key, (IOpenApiSecurityScheme)new OpenApiSecurityScheme
        {
            Type = SecuritySchemeType.ApiKey,
            In = ParameterLocation.Header,
            Name = "X-Api-Key",
            Description = "A named key. Browsers have the cookie of a session instead.",
        });
        document.Security = [new OpenApiSecurityRequirement { [new OpenApiSecuritySchemeReference(Key, document)] = [] }];
        var paths = new OpenApiPaths();
        foreach (var (path, item) in document.Paths.OrderBy(path => path.Key, StringComparer.Ordinal))
            paths.Add(path, item);
        document.Paths = paths;
        document.Components!.Schemas = document.Components.Schemas!.OrderBy(schema => schema.Key, StringComparer.Ordinal).ToDictionary();
        return Task.CompletedTask;
    }
}
