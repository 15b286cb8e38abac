using System.Text.Json;
using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>Words of the API: <c>DownloadClient</c> is <c>download-client</c>. Numbers are no words.</summary>
internal sealed class KebabCaseEnumConverter<T>() : JsonStringEnumConverter<T>(JsonNamingPolicy.KebabCaseLower, allowIntegerValues: false)
    where T : struct, Enum;
