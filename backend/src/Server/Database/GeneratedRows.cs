using System.Data;
using Dapper;

// Dapper's source generator replaces every call, because reflection is unavailable at run time.
[module: DapperAot]

namespace Sluice.Server.Database;

/// <summary>A byte array as one SQL parameter, because the generator would expand a bare array into a list.</summary>
internal readonly record struct SqlBytes(byte[]? Value) : SqlMapper.ICustomQueryParameter
{
    public void AddParameter(IDbCommand command, string name)
    {
        var parameter = command.CreateParameter();
        parameter.ParameterName = name;
        parameter.DbType = DbType.Binary;
        parameter.Value = Value ?? (object)DBNull.Value;
        command.Parameters.Add(parameter);
    }
}
