using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Http.HttpResults;

namespace Sluice.Server.AdminApi;

/// <summary>An error (RFC 9457, ADM-3). <c>Type</c> is a stable word, <c>Title</c> is a sentence, and <c>Errors</c> maps form fields to sentences.</summary>
internal sealed record Problem(string Type, string Title, int Status, IReadOnlyDictionary<string, string[]>? Errors = null);

internal static class AdminProblem
{
    private const string ContentType = "application/problem+json";

    /// <summary>Fields that cannot be used; 400.</summary>
    public static JsonHttpResult<Problem> BadInput(IReadOnlyDictionary<string, string[]> errors) =>
        Of(StatusCodes.Status400BadRequest, "bad-input", errors.Count == 1 ? errors.Values.First()[0] : $"{errors.Count} values cannot be used.", errors);

    public static JsonHttpResult<Problem> BadInput(string field, string sentence) => BadInput(new Dictionary<string, string[]> { [field] = [sentence] });

    public static JsonHttpResult<Problem> NotFound(string sentence) => Of(StatusCodes.Status404NotFound, "not-found", sentence);

    public static JsonHttpResult<Problem> WrongState(string sentence) => Of(StatusCodes.Status409Conflict, "wrong-state", sentence);

    /// <summary>A test that ran and failed; 422.</summary>
    public static JsonHttpResult<Problem> TestFailed(string sentence) => Of(StatusCodes.Status422UnprocessableEntity, "test-failed", sentence);

    public static JsonHttpResult<Problem> Of(int status, string type, string title, IReadOnlyDictionary<string, string[]>? errors = null) =>
        TypedResults.Json(new Problem(type, title, status, errors), AdminProblemJson.Default.Problem, ContentType, status);
}

[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(Problem))]
internal sealed partial class AdminProblemJson : JsonSerializerContext;
